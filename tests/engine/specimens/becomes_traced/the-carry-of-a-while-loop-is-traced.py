# the carry of a while_loop is traced
import jax.numpy as jnp
from jax import lax

def body(state):
    i, x = state
    if i == 2:  # finding: tracer-branch
        x = x + 1
    return i + 1, x

lax.while_loop(lambda s: s[0] < 4, body, (0, jnp.ones(2)))
