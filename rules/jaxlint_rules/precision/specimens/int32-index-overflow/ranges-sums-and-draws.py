# ranges, sums and draws

import jax
import jax.numpy as jnp

WIDTH = 60_000
SHAPE = (2048, 2048, 1024)

def flat(key):
    rows, columns = jnp.arange(WIDTH), jnp.arange(WIDTH)
    grid = rows[:, None] * WIDTH + columns  # finding
    users = jax.random.randint(key, (512,), 0, 120_000)
    drawn = users * 50_000 + 1  # finding
    triangle = rows * (rows + 1) // 2  # finding
    return grid, drawn, triangle

total = jnp.sum(jnp.arange(100_000))  # finding
running = jnp.cumsum(jnp.full((100_000,), 100_000))  # finding
squares = jnp.arange(100_000) ** 2  # finding
bits = 1 << jnp.arange(40)  # finding
size = jnp.prod(jnp.array(SHAPE))  # finding
far = jnp.arange(2**31, 2**31 + 8)  # finding
factorial = jnp.prod(jnp.arange(1, 20))  # finding
