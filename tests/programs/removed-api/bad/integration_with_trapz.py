# source: jax-ml/jax#29943
# blind: second

import functools

import jax
import jax.numpy as jnp


class Spectrum:
    def __init__(self, wavelengths, temperature):
        self.wavelengths = wavelengths
        self.temperature = temperature

    def radiance(self):
        x = 14387.8 / (self.wavelengths * self.temperature)
        return self.wavelengths**-5 / jnp.expm1(x)


def band_flux(spectrum, low, high):
    w = spectrum.wavelengths
    inside = (w >= low) & (w <= high)
    return jnp.trapz(jnp.where(inside, spectrum.radiance(), 0.0), w)  # finding


@functools.partial(jax.jit, static_argnums=(1, 2))
def colour(temperature, blue, red):
    spectrum = Spectrum(jnp.linspace(0.3, 3.0, 500), temperature)
    return band_flux(spectrum, *blue) / band_flux(spectrum, *red)


if __name__ == "__main__":
    print(jax.vmap(lambda t: colour(t, (0.4, 0.5), (0.6, 0.7)))(jnp.array([4000.0, 6000.0])))
