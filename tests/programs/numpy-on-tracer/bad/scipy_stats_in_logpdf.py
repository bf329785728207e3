# source: jax-ml/jax#101
# blind: first

import jax
import jax.numpy as jnp
from scipy import stats


def log_likelihood(theta, data):
    mu, log_sigma = theta
    return jnp.sum(stats.norm.logpdf(data, loc=mu, scale=jnp.exp(log_sigma)))  # finding


fit_grad = jax.jit(jax.grad(log_likelihood))

if __name__ == "__main__":
    print(fit_grad(jnp.array([0.0, 0.0]), jnp.ones(5)))
