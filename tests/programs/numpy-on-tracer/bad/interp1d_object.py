# source: fishjojo/pyscfad#34

import jax
import jax.numpy as jnp
import numpy as np
from scipy.interpolate import interp1d

ENERGY = np.linspace(0.1, 10.0, 50)
CROSS_SECTION = 1.0 / np.sqrt(ENERGY)


class Attenuation:
    def __init__(self, energy, sigma):
        self.sigma = interp1d(energy, sigma, fill_value="extrapolate")

    def __call__(self, depth, energy):
        return jnp.exp(-self.sigma(energy) * depth)  # finding


attenuation = Attenuation(ENERGY, CROSS_SECTION)


def flux(depth, spectrum):
    transmitted = jax.vmap(attenuation, in_axes=(None, 0))(depth, spectrum)
    return transmitted.sum()


if __name__ == "__main__":
    print(flux(0.3, jnp.linspace(0.5, 5.0, 20)))
