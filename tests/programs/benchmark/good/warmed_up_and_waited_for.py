# blind: tenth

import time

import jax
import jax.numpy as jnp

matmul = jax.jit(lambda a: a @ a)


def seconds(n, repeats=5):
    a = jnp.ones((n, n))
    matmul(a).block_until_ready()
    start = time.perf_counter()
    for _ in range(repeats):
        c = matmul(a)
    c.block_until_ready()
    return (time.perf_counter() - start) / repeats


print(seconds(64) > 0)
