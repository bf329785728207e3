# source: jax-ml/jax#9154
# blind: sixth

"""Cosmology: luminosity distances against supernovae."""
import jax
import jax.numpy as jnp
from scipy.special import erf

Z = jnp.linspace(0.01, 2.0, 64)


def efunc(z, omega_m):
    return jnp.sqrt(omega_m * (1 + z) ** 3 + 1 - omega_m)


def selection(mag, limit):
    return 0.5 * (1.0 - erf(mag - limit))  # finding


def log_like(theta, mags):
    omega_m, limit = theta
    dist = jnp.cumsum(1.0 / efunc(Z, omega_m)) * (Z[1] - Z[0])
    mu = 5.0 * jnp.log10((1 + Z) * dist)
    return jnp.sum(jnp.log(selection(mu, limit) + 1e-6) - 0.5 * (mags - mu) ** 2)


gradient = jax.jit(jax.grad(log_like))

if __name__ == "__main__":
    print(gradient(jnp.array([0.3, 1.0]), jnp.zeros(64)))
