# a carry that begins as infinity

import math
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

def power_iteration(a, tol=1e-5):
    def unfinished(state):
        i, _, change = state
        return change > tol and i < 100  # finding

    def multiply(state):
        i, v, _ = state
        w = a @ v
        return i + 1, w, jnp.linalg.norm(w - v)

    return lax.while_loop(unfinished, multiply, (0, jnp.ones(3), jnp.inf))

def bits(a, tol=1e-5):
    state = lax.while_loop(
        lambda state: (state[1] > tol) & (state[0] < 100), lambda state: (state[0] + 1, state[1] / 2), (0, np.inf)
    )
    return state

def on_host(a, tol=1e-5):
    i, change, v = 0, jnp.inf, jnp.ones(3)
    while change > tol and i < 100 and change != math.pi:
        w = a @ v
        i, change, v = i + 1, float(jnp.linalg.norm(w - v)), w
    return v

print(power_iteration(jnp.eye(3)), bits(jnp.eye(3)), on_host(jnp.eye(3)))
