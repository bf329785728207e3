# builtins that compare
import jax
import jax.numpy as jnp

@jax.jit
def f(x):
    return max(x, 0.0)  # finding: tracer-branch

f(1.0)
