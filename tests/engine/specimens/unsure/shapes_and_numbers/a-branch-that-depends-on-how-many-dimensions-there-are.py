# a branch that depends on how many dimensions there are
import jax
import jax.numpy as jnp
import numpy as np

def ratio(x, y):
    ratio = x.sum(axis=(-2, -1)) / y.sum(axis=(-2, -1))
    if ratio.ndim == 0:
        return 1 if jnp.isclose(ratio, 0) else ratio
    return jnp.where(jnp.isclose(ratio, 0), 1, ratio)

def levels(x):
    is_field = np.ndim(x) > 0
    if is_field:
        return jnp.diff(x)
    else:
        x = np.diff(x)
    return x + (1 if np.ndim(x) else float(x))

@jax.jit
def loss(x, y):
    return jax.vmap(ratio)(x, y), levels(x)
