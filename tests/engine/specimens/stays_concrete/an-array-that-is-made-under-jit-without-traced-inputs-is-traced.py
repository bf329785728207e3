# an array that is made under jit without traced inputs is traced
import jax
import jax.numpy as jnp

@jax.jit
def f(x):
    n = jnp.arange(3).sum()
    if n > 2:  # finding: tracer-branch
        x = x * 2
    return x

f(jnp.ones(3))
