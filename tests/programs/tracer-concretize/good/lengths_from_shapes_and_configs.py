# source: jax-ml/jax#4449
# blind: sixth

"""Static arithmetic only."""
import functools
import math

import jax
import jax.numpy as jnp


@functools.partial(jax.jit, static_argnames=("rate", "hop"))
def spectrogram(wave, rate, hop=0.01):
    width = int(rate * hop)
    frames = math.ceil(wave.shape[-1] / width)
    pad = frames * width - wave.shape[-1]
    wave = jnp.pad(wave, (0, pad)).reshape(frames, width)
    window = jnp.hanning(width)
    return jnp.abs(jnp.fft.rfft(wave * window, axis=-1))


if __name__ == "__main__":
    print(spectrogram(jnp.ones(1000), 8000).shape)
