# source: jax-ml/jax#21300
# blind: ninth

from functools import cached_property

import jax
import jax.numpy as jnp
import numpy as np


class Emulator:
    def __init__(self, path):
        self.path = path

    @cached_property
    def spectra(self):
        return jnp.asarray(np.load(self.path))

    def interpolator(self):
        table = self.spectra
        axis = jnp.linspace(0.0, 1.0, table.shape[0])

        @jax.jit
        def interpolate(theta):
            position = jnp.searchsorted(axis, theta)
            return 0.5 * (table[position] + table[position - 1])  # finding

        return interpolate


if __name__ == "__main__":
    np.save("/tmp/spectra.npy", np.ones((2000, 4000), np.float32))
    print(Emulator("/tmp/spectra.npy").interpolator()(0.3).shape)
