# source: jax-ml/jax#22990
# blind: first

import jax
import jax.numpy as jnp


def sample_posterior(key: jax.random.KeyArray, mean, cov, n):  # finding
    chol = jnp.linalg.cholesky(cov)
    return mean + jax.random.normal(key, (n, mean.shape[0])) @ chol.T


if __name__ == "__main__":
    print(sample_posterior(jax.random.key(0), jnp.zeros(2), jnp.eye(2), 3))
