# source: jax-ml/jax#3160
# blind: eighteenth

import jax
import jax.numpy as jnp
import numpy as np

# tabulated opacity (wavelength in micron, cm^2/g)
WAVE = np.linspace(0.3, 2.5, 24)
KAPPA = 1.5 / WAVE + 0.05 * np.sin(6 * WAVE)


def planck(wave, temp):
    return wave**-5 / jnp.expm1(14.388 / (wave * temp))


def opacity(wave):
    return np.interp(wave, WAVE, KAPPA)  # finding


def optical_depth(wave, column):
    return column * opacity(wave)


def emergent_flux(wave, temp, column):
    tau = optical_depth(wave, column)
    return planck(wave, temp) * (1.0 - jnp.exp(-tau))


def spectrum(waves, temp, column):
    return jax.vmap(emergent_flux, in_axes=(0, None, None))(waves, temp, column)


def chi2(theta, waves, observed, sigma):
    model = spectrum(waves, theta["temp"], theta["column"])
    return jnp.sum(((model - observed) / sigma) ** 2)


if __name__ == "__main__":
    grid = jnp.linspace(0.5, 2.0, 10)
    obs = planck(grid, 5.0) * 0.6
    theta = {"temp": jnp.asarray(4.5), "column": jnp.asarray(0.9)}
    print(jax.grad(chi2)(theta, grid, obs, 0.01))
