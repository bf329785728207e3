# source: jax-ml/jax#1240
# blind: first

import time
import timeit

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def f(x):
    return jnp.tanh(x @ x.T).sum()


def clock(x, repeat):
    jax.block_until_ready(f(x))
    start = time.perf_counter()
    for _ in range(repeat):
        y = f(x)
    y.block_until_ready()
    return (time.perf_counter() - start) / repeat


def compile_seconds(x):
    start = time.perf_counter()
    f.lower(x).compile()
    return time.perf_counter() - start


def main():
    x = jnp.ones((64, 64))
    print(compile_seconds(x), clock(x, 10))
    print(timeit.timeit(lambda: f(x).block_until_ready(), number=10))
    start = time.perf_counter()
    total = np.ones(100).sum()
    print(total, time.perf_counter() - start)


if __name__ == "__main__":
    main()
