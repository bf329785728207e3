# source: jax-ml/jax#16182
# blind: first

import jax
import jax.numpy as jnp
import numpy as np
from scipy.interpolate import CubicSpline

wavelength = np.linspace(400.0, 700.0, 31)
response = CubicSpline(wavelength, np.exp(-(((wavelength - 550.0) / 50.0) ** 2)))


def photon_count(spectrum, shift):
    weights = response(wavelength + shift)  # finding
    return jnp.sum(spectrum * weights)


def calibrate(shift, spectrum, measured, steps):
    loss = lambda s: (photon_count(spectrum, s) - measured) ** 2
    for _ in range(steps):
        shift = shift - 1e-3 * jax.grad(loss)(shift)  # finding-other
    return shift


if __name__ == "__main__":
    print(calibrate(1.0, jnp.ones(31), 9.0, 3))
