# source: jax-ml/jax#14199
# blind: first

import jax
import jax.numpy as jnp
import numpy as np


def host_eigvals(a):
    return np.linalg.eigvals(a).astype(np.complex64)


@jax.jit
def eigvals(a):
    shape = jax.ShapeDtypeStruct(a.shape[:-1], jnp.complex64)
    return jax.pure_callback(host_eigvals, shape, a, vmap_method="broadcast_all")


if __name__ == "__main__":
    print(jax.vmap(eigvals)(jnp.ones((3, 2, 2))))
