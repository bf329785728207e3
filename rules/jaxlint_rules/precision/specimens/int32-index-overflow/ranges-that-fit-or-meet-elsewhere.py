# ranges that fit, or whose ends do not meet

import math
import jax
import jax.numpy as jnp

HEIGHT, WIDTH = 1080, 1920

def flat(key, i, indices):
    rows = jnp.arange(HEIGHT)
    grid = rows[:, None] * WIDTH + jnp.arange(WIDTH)
    n = 60_000
    parabola = jnp.arange(n) * (n - jnp.arange(n))
    users = jax.random.randint(key, (512,), 0, 1000) * 50_000
    few = jnp.arange(n)[:4] * n
    some = jnp.arange(n)[indices] * n
    rest = (indices % n) * n
    return grid, parabola, users, few, some, rest

total = jnp.sum(jnp.arange(1000))
mean = jnp.mean(jnp.arange(100_000))
floats = jnp.arange(100_000.0) * 50_000
cast = jnp.arange(100_000).astype(jnp.float32) * 50_000
hashes = jnp.arange(100_000, dtype=jnp.uint32) * 65_537
bits = 1 << jnp.arange(31)
size = jnp.prod(jnp.array((HEIGHT, WIDTH))) + math.prod((2048, 2048, 1024)) // 2048
