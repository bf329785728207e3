# sizes out of arguments

import functools

import jax
import jax.numpy as jnp

@functools.partial(jax.jit, static_argnames="n")
def f(key, x, n):
    noise = jax.random.normal(key, (n,))
    grid = jnp.arange(n)
    kept = x[x > 0]
    where = jnp.nonzero(x)
    for _ in range(n):
        x = x * 2
    total = x.sum(axis=n)
    parts = jnp.repeat(x, n), jnp.split(x, n)
    clipped = jnp.where((x > 1) & ~jnp.isnan(x), 1.0, x)
    sums = jax.ops.segment_sum(x, n)
    return noise, grid, kept, where, x, total, parts, clipped, sums
