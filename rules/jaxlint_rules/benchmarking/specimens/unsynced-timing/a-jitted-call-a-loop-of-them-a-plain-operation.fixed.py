# a jitted call, a loop of them, a plain operation, timeit

import time
import timeit
from time import perf_counter as clock
import jax
import jax.numpy as jnp

@jax.jit
def step(x):
    return jnp.sin(x) @ x

def once(x):
    step(x).block_until_ready()
    start = time.perf_counter()
    y = step(x)
    jax.block_until_ready(y)
    stop = time.perf_counter()  # finding
    return y, stop - start

def many(x):
    t0 = clock()
    for _ in range(100):
        x = step(x)
    jax.block_until_ready(x)
    print((clock() - t0) / 100)  # finding

def plain(n):
    a = jnp.ones((n, n))
    begin = time.time()
    b = jnp.dot(a, a)
    jax.block_until_ready(b)
    seconds = time.time() - begin  # finding
    return b, seconds

def by_timeit(x):
    return timeit.timeit(lambda: jax.block_until_ready(step(x)), number=10)  # finding
