# source: pyro-ppl/numpyro#463

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def log_prob(theta, data):
    return -0.5 * jnp.sum((data - theta) ** 2) - 0.5 * jnp.sum(theta**2)


def metropolis(data, n_samples, scale=0.3, seed=0):
    rng = np.random.default_rng(seed)
    theta = np.zeros(data.shape[-1], np.float32)
    current = log_prob(theta, data)
    chain, accepted = [], 0
    for _ in range(n_samples):
        proposal = theta + scale * rng.normal(size=theta.shape).astype(np.float32)
        lp = log_prob(proposal, data)
        if np.log(rng.uniform()) < lp - current:  # finding
            theta, current = proposal, lp
            accepted += 1
        chain.append(theta)
    return np.stack(chain), accepted / n_samples


if __name__ == "__main__":
    print(metropolis(jnp.ones((20, 2)), 50)[1])
