# numbers, arrays, a list that was appended to

import jax.numpy as jnp

def total(xs):
    losses = []
    for x in xs:
        losses.append(jnp.sin(x).mean())
    return jnp.mean(jnp.array(losses)), jnp.max(jnp.array([1.0, 2.0])), jnp.sqrt(jnp.array((1.0, 4.0)))  # finding

def both(x):
    return jnp.dot(jnp.array([1.0, 2.0]), jnp.array([3.0, 4.0])) + jnp.maximum(x, jnp.array([1.0, 2.0]))  # finding
