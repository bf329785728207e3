# numbers, arrays, a list that was appended to

import jax.numpy as jnp

def total(xs):
    losses = []
    for x in xs:
        losses.append(jnp.sin(x).mean())
    return jnp.mean(losses), jnp.max([1.0, 2.0]), jnp.sqrt((1.0, 4.0))  # finding

def both(x):
    return jnp.dot([1.0, 2.0], [3.0, 4.0]) + jnp.maximum(x, [1.0, 2.0])  # finding
