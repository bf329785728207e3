# source: patrick-kidger/equinox#11
# blind: third

from functools import partial

import jax
import jax.numpy as jnp


class Butterworth:
    def __init__(self, order, cutoff):
        self.order = order
        self.cutoff = cutoff

    def _key(self):
        return (type(self), self.order, self.cutoff)

    def __eq__(self, other):
        return isinstance(other, Butterworth) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def gain(self, freqs):
        return 1.0 / jnp.sqrt(1.0 + (freqs / self.cutoff) ** (2 * self.order))

    @partial(jax.jit, static_argnums=(0,))
    def __call__(self, signal):
        spectrum = jnp.fft.rfft(signal)
        freqs = jnp.fft.rfftfreq(signal.shape[-1])
        return jnp.fft.irfft(spectrum * self.gain(freqs), signal.shape[-1])


class Chebyshev(Butterworth):
    def gain(self, freqs):
        return 1.0 / (1.0 + (freqs / self.cutoff) ** self.order)


def denoise(channels, order=2):
    filters = {"ecg": Butterworth(order, 0.1), "eeg": Chebyshev(order, 0.2)}
    return {name: filters[name](x) for name, x in channels.items()}


if __name__ == "__main__":
    print(denoise({"ecg": jnp.sin(jnp.arange(16.0))}))
