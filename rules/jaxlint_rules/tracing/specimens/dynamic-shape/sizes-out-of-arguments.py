# sizes out of arguments

import jax
import jax.numpy as jnp

@jax.jit
def f(key, x, n):
    noise = jax.random.normal(key, (n,))  # finding
    grid = jnp.arange(n)  # finding
    kept = x[x > 0]  # finding
    where = jnp.nonzero(x)  # finding
    for _ in range(n):
        x = x * 2
    total = x.sum(axis=n)  # finding
    parts = jnp.repeat(x, n), jnp.split(x, n)  # finding
    clipped = x.at[(x > 1) & ~jnp.isnan(x)].set(1.0)  # finding
    sums = jax.ops.segment_sum(x, n)  # finding
    return noise, grid, kept, where, x, total, parts, clipped, sums
