# source: jax-ml/jax#14655
# blind: fifth

import jax
import jax.numpy as jnp

N = 1024
_k = jnp.arange(N)
DFT = jnp.exp(-2j * jnp.pi * jnp.outer(_k, _k) / N)
WINDOW = jnp.hanning(N)


@jax.jit
def spectrum(frames):
    return jnp.abs((frames * WINDOW) @ DFT)  # finding


def spectrogram(signal, hop):
    starts = range(0, signal.shape[0] - N, hop)
    frames = jnp.stack([signal[s : s + N] for s in starts])
    return spectrum(frames)


if __name__ == "__main__":
    t = jnp.linspace(0.0, 1.0, 8192)
    print(spectrogram(jnp.sin(2 * jnp.pi * 440.0 * t), 512).shape)
