# sizes out of shapes and static arguments

from functools import partial
import jax
import jax.numpy as jnp

@partial(jax.jit, static_argnames="n")
def f(key, x, n):
    noise = jax.random.normal(key, (n,) + x.shape[1:])
    grid = jnp.arange(x.shape[0] // 2)
    where = jnp.nonzero(x, size=3), jnp.repeat(x, x.astype(int), total_repeat_length=9), jnp.repeat(x, n)
    sums = jax.ops.segment_sum(x, x.astype(int), num_segments=n), jnp.bincount(x.astype(int), length=n)
    x = x.at[jnp.argmax(x)].set(0.0).sum(axis=n)
    for _ in range(n):
        x = x * 2
    return noise, grid, where, x, jnp.where(x > 0, x, 0.0)
