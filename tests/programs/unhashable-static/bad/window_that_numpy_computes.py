# blind: thirteenth

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np


@partial(jax.jit, static_argnames=("kernel",))
def smooth(signal, kernel):
    return jax.vmap(lambda row: jnp.convolve(row, kernel, mode="same"))(signal)


def gaussian(radius, sigma):
    x = np.arange(-radius, radius + 1)
    k = np.exp(-0.5 * (x / sigma) ** 2)
    return k / k.sum()


def pipeline(signals):
    window = gaussian(4, 1.5)
    smoothed = smooth(signals, kernel=window)  # finding
    return smoothed - smoothed.mean(axis=1, keepdims=True)


if __name__ == "__main__":
    print(pipeline(jnp.ones((3, 64))).shape)
