# results of another shape

import jax
import jax.numpy as jnp
import numpy as np

def singular(m):
    return np.linalg.svd(m)[1]

def averaged(m):
    if m.ndim == 2:
        return m.mean(axis=0)
    return m

@jax.jit
def fits(x):
    a = jax.pure_callback(singular, jax.ShapeDtypeStruct((4,), x.dtype), x)
    b = jax.pure_callback(averaged, jax.ShapeDtypeStruct(x.shape[1:], x.dtype), x)
    c = jax.pure_callback(lambda m: np.float32(m.sum()), jax.ShapeDtypeStruct((), jnp.float32), x)
    return a, b, c, jax.pure_callback(lambda m: np.sort(m, axis=-1), x, x)

@jax.jit
def wrong(x):
    a = jax.pure_callback(lambda m: np.array([m.sum()]), jax.ShapeDtypeStruct((), jnp.float32), x)  # finding
    return a, jax.pure_callback(lambda m: m.mean(axis=0), jax.ShapeDtypeStruct((6,), jnp.float32), x)  # finding

fits(jnp.ones((6, 4))), wrong(jnp.ones((6, 4)))
