# source: jax-ml/jax#1219
# blind: first

import time

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def smooth(x):
    return jnp.convolve(x, jnp.ones(64) / 64, mode="same")


def main():
    x = jnp.ones(200_000)
    times = []
    for _ in range(10):
        t0 = time.time()
        smooth(x).block_until_ready()  # finding-also
        times.append(time.time() - t0)  # finding
    print("mean time:", np.mean(times))  # finding-also


main()
