# source: jax-ml/jax#20209
# blind: first

import time

import jax
import jax.numpy as jnp
import numpy as np

kernel = jax.jit(lambda x: jnp.sum(jnp.sin(x) ** 2))


def bench(n):
    host = np.random.default_rng(0).random((n, n), dtype=np.float32)
    kernel(host).block_until_ready()
    t0 = time.perf_counter()
    for _ in range(20):
        kernel(host).block_until_ready()  # finding
    return (time.perf_counter() - t0) / 20


print(f"kernel: {bench(1000) * 1e6:.0f} us")
