# source: jax-ml/jax#12596
# blind: first
# missed: not found yet

import jax
import jax.numpy as jnp
import numpy as np
from scipy import optimize


def _root(c):
    return np.array([optimize.brentq(lambda x: x**3 - v, -10, 10) for v in np.ravel(c)]).reshape(c.shape)


@jax.jit
def cube_root(c):
    spec = jax.ShapeDtypeStruct(c.shape, c.dtype)
    return jax.pure_callback(_root, spec, c, vmap_method="legacy_vectorized")  # finding


if __name__ == "__main__":
    print(cube_root(jnp.array([1.0, 8.0])))
