# source: kokabsc/gwkokab#112
# blind: fifth

import time

import jax
import jax.numpy as jnp


@jax.jit
def correlate(x, y):
    return jnp.fft.irfft(jnp.fft.rfft(x) * jnp.conj(jnp.fft.rfft(y)))


def measure(n, repeats=50):
    x = jnp.sin(jnp.arange(n, dtype=jnp.float32))
    y = jnp.cos(jnp.arange(n, dtype=jnp.float32))
    correlate(x, y).block_until_ready()
    start = time.perf_counter()
    for _ in range(repeats):
        result = correlate(x, y)
    jax.block_until_ready(correlate)
    seconds = (time.perf_counter() - start) / repeats  # finding
    return seconds, result


if __name__ == "__main__":
    print(measure(1 << 16)[0])
