# loops that measure after a call, or leave the first time out

import statistics
import time
import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def attend(q):
    return jax.nn.softmax(q @ q.T) @ q

@jax.jit
def norm(q):
    return q / jnp.linalg.norm(q)

@jax.jit
def product(q):
    return q @ q.T

def warmed_sizes(sizes):
    for n in sizes:
        q = jnp.ones((n, n))
        product(q).block_until_ready()
        start = time.perf_counter()
        product(q).block_until_ready()
        print(n, time.perf_counter() - start)

def mean_time(q, runs=20):
    attend(q).block_until_ready()
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        attend(q).block_until_ready()
        times.append(time.perf_counter() - start)
    return np.mean(times)

def median_time(q, runs=20):
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        norm(q).block_until_ready()
        times.append(time.perf_counter() - start)
    return statistics.median(times), sum(times) / runs

def later_times(q, runs=20):
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        product(q).block_until_ready()
        times.append(time.perf_counter() - start)
    return np.mean(times[1:])

def table(x):
    for name, fn in {"plain": jax.jit(lambda x: x @ x), "cube": jax.jit(lambda x: x @ x @ x)}.items():
        fn(x).block_until_ready()
        start = time.perf_counter()
        fn(x).block_until_ready()
        print(name, time.perf_counter() - start)

x = jnp.ones((64, 64))
print(mean_time(x), median_time(x), later_times(x))
table(x)
warmed_sizes([8, 16, 32])
