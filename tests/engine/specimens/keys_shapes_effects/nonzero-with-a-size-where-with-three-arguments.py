# nonzero with a size, where with three arguments
import jax
import jax.numpy as jnp

@jax.jit
def f(x):
    (rows,) = jnp.nonzero(x, size=2)
    return jnp.where(x > 0, x, 0)[rows], jnp.unique(x, size=3), jnp.argwhere(x, size=1)

f(jnp.ones(3))
