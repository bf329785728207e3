# source: jax-ml/jax#4718
# blind: eighth

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np


@partial(jax.jit, static_argnames=("width", "kind"))
def filter_signal(x, width, kind="hann"):
    taps = {"hann": np.hanning, "flat": np.ones}[kind](width)
    taps = taps / np.sum(taps)
    rows = int(np.ceil(x.shape[0] / width))
    padded = jnp.zeros(rows * width, x.dtype).at[: x.shape[0]].set(x)
    return jnp.convolve(padded, jnp.asarray(taps, x.dtype), mode="same")


if __name__ == "__main__":
    print(filter_signal(jnp.ones(20), 7).shape)
