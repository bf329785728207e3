# source: jax-ml/jax#14199
# blind: first
# missed: not found yet

import jax
import jax.numpy as jnp
import numpy as np


def host_eigvals(a):
    return np.linalg.eigvals(a)


@jax.jit
def eigvals(a):
    shape = jax.ShapeDtypeStruct(a.shape[:-1], a.dtype)  # finding-also
    return jax.pure_callback(host_eigvals, shape, a, vmap_method="sequential")  # finding


if __name__ == "__main__":
    rotation = jnp.array([[0.0, -1.0], [1.0, 0.0]])
    print(eigvals(rotation))
