# source: jax-ml/jax#1219
# blind: eighteenth

import statistics
import time

import jax
import jax.numpy as jnp


@jax.jit
def layer_norm(x):
    mu = x.mean(axis=-1, keepdims=True)
    var = x.var(axis=-1, keepdims=True)
    return (x - mu) * jax.lax.rsqrt(var + 1e-6)


@jax.jit
def rms_norm(x):
    return x * jax.lax.rsqrt(jnp.mean(x**2, axis=-1, keepdims=True) + 1e-6)


def bench(fn, *args, repeats=10):
    start = time.perf_counter()
    jax.block_until_ready(fn(*args))
    first = time.perf_counter() - start
    times = []
    for _ in range(repeats):
        t0 = time.perf_counter()
        jax.block_until_ready(fn(*args))
        times.append(time.perf_counter() - t0)
    return first, statistics.median(times)


def main():
    for n in (128, 512):
        x = jax.block_until_ready(jax.random.normal(jax.random.key(n), (n, 256)))
        for fn in (layer_norm, rms_norm):
            first, steady = bench(fn, x)
            print(f"{fn.__name__:>12} n={n} first call {first:.2e}s steady {steady:.2e}s")


if __name__ == "__main__":
    main()
