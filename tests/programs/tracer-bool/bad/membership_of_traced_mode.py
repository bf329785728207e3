# source: jax-ml/jax#16430

import jax
import jax.numpy as jnp

REFLECTING = (0, 2)
PERIODIC = (1, 3)


def wrap(x, lower, upper, mode):
    width = upper - lower
    if mode in REFLECTING:  # finding
        folded = jnp.mod(x - lower, 2 * width)
        return lower + jnp.where(folded > width, 2 * width - folded, folded)
    return lower + jnp.mod(x - lower, width)


@jax.jit
def advance(positions, velocities, box, mode):
    moved = positions + 0.1 * velocities
    return wrap(moved, -box, box, mode)


def run(mode, steps=5):
    key = jax.random.key(3)
    positions = jax.random.uniform(key, (8, 2))
    velocities = jax.random.normal(key, (8, 2))
    for _ in range(steps):
        positions = advance(positions, velocities, 1.0, mode)
    return positions


print(run(0), run(1))
