# source: jax-ml/jax#5492
# blind: eighth

import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.cache
def dct_matrix(n):
    k = np.arange(n)
    return np.cos(np.pi * (k[:, None] + 0.5) * k / n) * np.sqrt(2.0 / n)


@jax.jit
def mel_cepstrum(spectrum):
    layers = []
    for width in (1, 2):
        layers.append(jnp.log1p(spectrum * width))
    stacked = jnp.stack(layers).mean(0)
    return stacked @ dct_matrix(spectrum.shape[-1])


if __name__ == "__main__":
    print(mel_cepstrum(jnp.ones((2, 8))).shape)
