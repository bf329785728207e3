# source: jax-ml/jax#20515
# blind: fifth

import timeit

import jax
import jax.numpy as jnp
from jax import random


def mlp(params, x):
    for w, b in params:
        x = jax.nn.relu(x @ w + b)
    return x


def init(key, sizes):
    keys = random.split(key, len(sizes) - 1)
    return [
        (random.normal(k, (m, n)) * 0.1, jnp.zeros(n)) for k, m, n in zip(keys, sizes[:-1], sizes[1:])
    ]


params = init(random.key(0), [128, 256, 256, 10])
batch = jnp.ones((64, 128))
fast = jax.jit(mlp)
fast(params, batch).block_until_ready()

eager_time = timeit.timeit(lambda: mlp(params, batch).block_until_ready(), number=10)
jit_time = timeit.timeit(lambda: fast(params, batch), number=10)  # finding
print(f"speedup {eager_time / jit_time:.1f}x")
