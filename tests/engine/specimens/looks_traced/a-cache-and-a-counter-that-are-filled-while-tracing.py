# a cache and a counter that are filled while tracing
import functools

import jax
import jax.numpy as jnp
import numpy as np

@functools.lru_cache(maxsize=None)
def table(n):
    values = np.zeros(n)
    for i in range(n):
        values[i] = i**0.5 if i > 1 else 0
    return values

seen = {}

@jax.jit
def f(x):
    n = x.shape[0]
    if n not in seen:
        seen[n] = table(n).sum()
    return x * seen[n] + jnp.asarray(table(n))

f(jnp.ones(3))
