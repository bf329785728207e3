# an outer list, a global and a cache

import jax
import jax.numpy as jnp

SEEN = []
CACHE = {}
last = None

def remember(h):
    SEEN.append(h)  # finding

@jax.jit
def f(x):
    global last
    last = x * 2  # finding
    remember(x)
    CACHE["x"] = jnp.sin(x)  # finding
    return x
