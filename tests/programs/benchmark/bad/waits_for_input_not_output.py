# source: jax-ml/jax#5815
# blind: first

import time

import jax
import jax.numpy as jnp


@jax.jit
def fft_filter(x, h):
    return jnp.fft.irfft(jnp.fft.rfft(x) * h)


def measure(n, rounds):
    x = jnp.ones((64, n))
    h = jnp.ones((n // 2 + 1,))
    jax.block_until_ready(fft_filter(x, h))
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        y = fft_filter(x, h)
        x.block_until_ready()
        times.append(time.perf_counter() - begin)  # finding
    return min(times), y.shape


if __name__ == "__main__":
    print(measure(1024, 3))
