# what arrays have, by the names of special methods
import jax
import jax.numpy as jnp

@jax.jit
def f(x):
    if hasattr(x, "__len__") and not hasattr(x, "detach"):
        return x + len(x)
    return x if x > 0 else -x

f(jnp.ones(2))
