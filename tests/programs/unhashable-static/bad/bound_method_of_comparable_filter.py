# source: patrick-kidger/equinox#11
# blind: third

from functools import partial

import jax
import jax.numpy as jnp


class Butterworth:
    def __init__(self, order, cutoff):
        self.order = order
        self.cutoff = cutoff

    def __eq__(self, other):
        return (self.order, self.cutoff) == (other.order, other.cutoff)

    def gain(self, freqs):
        return 1.0 / jnp.sqrt(1.0 + (freqs / self.cutoff) ** (2 * self.order))

    @partial(jax.jit, static_argnums=(0,))  # finding
    def __call__(self, signal):  # finding-also
        spectrum = jnp.fft.rfft(signal)
        freqs = jnp.fft.rfftfreq(signal.shape[-1])
        return jnp.fft.irfft(spectrum * self.gain(freqs), signal.shape[-1])


def denoise(channels, order=2):
    lowpass = Butterworth(order, cutoff=0.1)
    return {name: lowpass(x) for name, x in channels.items()}  # finding-also


if __name__ == "__main__":
    print(denoise({"ecg": jnp.sin(jnp.arange(16.0))}))
