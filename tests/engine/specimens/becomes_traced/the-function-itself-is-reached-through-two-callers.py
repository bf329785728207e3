# the function itself is reached through two callers
import jax
import jax.numpy as jnp

def inner(x, n):
    if n > 2:
        return x
    return x * bool(x.sum() > 0)  # finding: tracer-concretization

def middle(x):
    return inner(x, 1)

@jax.jit
def outer(x):
    return middle(x) + inner(x, 3)

outer(jnp.ones(3))
