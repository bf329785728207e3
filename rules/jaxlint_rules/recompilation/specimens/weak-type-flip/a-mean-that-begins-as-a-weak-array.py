# a mean that begins as a weak array, over data that is not known

import jax
import jax.numpy as jnp

@jax.jit
def average(mean, batch):
    return 0.9 * mean + 0.1 * jnp.mean(batch)

def begins_weak(batches):
    mean = jnp.asarray(0.0)
    for batch in batches:
        mean = average(mean, batch)  # finding
    return mean

def begins_strong(batches):
    mean = jnp.zeros(())
    for batch in batches:
        mean = average(mean, batch)
    return mean

@jax.jit
def halved(value, batch):
    return 0.5 * value

def stays_weak(batches):
    value = jnp.asarray(1.0)
    for batch in batches:
        value = halved(value, batch)
    return value

@jax.jit
def moved(positions, velocities, width):
    return jnp.mod(positions + 0.1 * velocities, width)

def stays_strong(key):
    positions = jax.random.uniform(key, (8, 2))
    velocities = jnp.ones((8, 2))
    for _ in range(5):
        positions = moved(positions, velocities, 1.0)
    return positions
