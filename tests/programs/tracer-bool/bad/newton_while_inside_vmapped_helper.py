# blind: eighteenth

import jax
import jax.numpy as jnp


def kepler_residual(ecc_anomaly, mean_anomaly, ecc):
    return ecc_anomaly - ecc * jnp.sin(ecc_anomaly) - mean_anomaly


def newton(fun, x0, tol=1e-6):
    dfun = jax.grad(fun)
    x = x0
    while jnp.abs(fun(x)) > tol:  # finding
        x = x - fun(x) / dfun(x)
    return x


def solve_kepler(mean_anomaly, ecc):
    return newton(lambda e: kepler_residual(e, mean_anomaly, ecc), mean_anomaly)


def true_anomaly(mean_anomaly, ecc):
    e = solve_kepler(mean_anomaly, ecc)
    factor = jnp.sqrt((1 + ecc) / (1 - ecc))
    return 2 * jnp.arctan(factor * jnp.tan(e / 2))


def radial_velocity(times, period, ecc, semi_amplitude):
    phase = 2 * jnp.pi * times / period
    nu = jax.vmap(true_anomaly, in_axes=(0, None))(phase, ecc)
    return semi_amplitude * (jnp.cos(nu) + ecc)


if __name__ == "__main__":
    t = jnp.linspace(0.1, 1.0, 6)
    print(solve_kepler(0.4, 0.1))
    print(radial_velocity(t, 3.0, 0.2, 10.0))
