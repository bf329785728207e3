# blind: tenth

import time

import jax
import jax.numpy as jnp


@jax.jit
def matmul(a, b):
    return a @ b


def gflops(n, repeats=10):
    a = jnp.ones((n, n))
    matmul(a, a).block_until_ready()
    start = time.perf_counter()
    for _ in range(repeats):
        c = matmul(a, a)
    seconds = (time.perf_counter() - start) / repeats  # finding
    return 2 * n**3 / seconds / 1e9


print(gflops(256) > 0)
