# source: jax-ml/jax#2521

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def covariance(x):
    centred = x - x.mean(0)
    return centred.T @ centred / x.shape[0]


@jax.jit
def log_density(x, mean, cov):
    diff = x - mean
    sol = jnp.linalg.solve(cov, diff.T).T
    return -0.5 * jnp.sum(diff * sol, -1) - 0.5 * jnp.linalg.slogdet(cov)[1]


def trimmed_fit(x, n_rounds=8, quantile=0.9):
    """Refit a Gaussian without its outliers."""
    inliers = x
    for _ in range(n_rounds):
        cov = covariance(inliers)  # finding
        scores = log_density(x, inliers.mean(0), cov)
        cut = np.quantile(scores, 1 - quantile)
        inliers = x[np.asarray(scores) > cut]  # finding-also
        quantile *= 0.99
    return cov


if __name__ == "__main__":
    x = np.random.default_rng(0).standard_t(3, size=(300, 3))
    print(trimmed_fit(x))
