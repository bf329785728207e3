# source: jax-ml/jax#1219
# blind: eighth

import time

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def smooth(signal):
    kernel = jnp.hanning(9)
    return jnp.convolve(signal, kernel / kernel.sum(), mode="same")


def benchmark(length=4096, trials=10):
    signal = jnp.sin(jnp.linspace(0.0, 50.0, length))
    smooth(signal).block_until_ready()
    times = []
    for _ in range(trials):
        t0 = time.perf_counter()
        smooth(signal).block_until_ready()
        times.append(time.perf_counter() - t0)
    print("median seconds:", np.median(times))


if __name__ == "__main__":
    benchmark()
