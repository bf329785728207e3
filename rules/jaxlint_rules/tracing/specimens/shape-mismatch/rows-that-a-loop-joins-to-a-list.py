# rows that a loop joins to a list, and what it binds anew

import jax
import jax.numpy as jnp

@jax.jit
def gains(rewards, values):
    collected, total = [], 0.0
    for step in reversed(range(len(rewards))):
        total = rewards[step] + 0.9 * total - values[step]
        collected = [total] + collected
    return jnp.array(collected)

gains(jnp.ones((128, 8)), jnp.ones((129, 8))) + jnp.ones((128, 8))

def joined(rows=()):
    for _ in range(128):
        rows = rows + (jnp.ones(3),)
    return jnp.stack(rows) + jnp.ones((128, 3))

def unpacked():
    rows = []
    for _ in range(128):
        rows = [*rows, jnp.ones(3)]
        if len(rows) == 100:
            return jnp.stack(rows) + jnp.ones((100, 3))

def bound_anew(count):
    pair = ()
    for _ in range(count):
        pair = (jnp.ones(3), jnp.ones(4))
    left, right = pair
    return left + right  # finding
