# source: jax-ml/jax#2947

import jax
import jax.numpy as jnp


def kepler_residual(ecc_anomaly, mean_anomaly, e):
    return ecc_anomaly - e * jnp.sin(ecc_anomaly) - mean_anomaly


def newton(f, x0, *args, tol=1e-6, max_iter=50):
    df = jax.grad(f)
    x, step, count = x0, jnp.inf, 0
    while abs(step) > tol and count < max_iter:  # finding
        step = f(x, *args) / df(x, *args)
        x = x - step
        count += 1
    return x


def eccentric_anomaly(mean_anomaly, e):
    return newton(kepler_residual, mean_anomaly, mean_anomaly, e)


solve_all = jax.vmap(eccentric_anomaly, in_axes=(0, None))


def true_anomaly(mean_anomalies, e):
    big_e = solve_all(mean_anomalies, e)
    return 2 * jnp.arctan2(jnp.sqrt(1 + e) * jnp.sin(big_e / 2), jnp.sqrt(1 - e) * jnp.cos(big_e / 2))


print(true_anomaly(jnp.linspace(0.1, 3.0, 7), 0.4))
