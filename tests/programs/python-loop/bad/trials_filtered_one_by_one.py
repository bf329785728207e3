# source: jax-ml/jax#20326
# blind: fourth

import jax.numpy as jnp
import numpy as np


def latent_mean(loadings, trial, k):
    weights = loadings[:, k]
    return trial @ weights / (weights @ weights)


def means_and_vars(loadings, trials):
    """Posterior mean and variance of every latent in every trial."""
    n_trials, n_times, _ = trials.shape
    n_latents = loadings.shape[1]
    means = jnp.zeros((n_trials, n_latents, n_times))
    variances = jnp.zeros((n_trials, n_latents))
    for r in range(n_trials):  # finding
        for k in range(n_latents):  # finding-also
            m = latent_mean(loadings, trials[r], k)
            means = means.at[r, k].set(m)  # finding-also
            variances = variances.at[r, k].set(jnp.var(m))  # finding-also
    return means, variances


def explained(loadings, trials):
    means, variances = means_and_vars(loadings, trials)
    return jnp.mean(variances / (variances + 1.0)), means.shape


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    trials = jnp.asarray(rng.normal(size=(60, 50, 12)), jnp.float32)
    loadings = jnp.asarray(rng.normal(size=(12, 5)), jnp.float32)
    print(explained(loadings, trials))
