# source: jax-ml/jax#2312
# blind: first

import jax
import jax.numpy as jnp


@jax.jit
def likelihood(theta, x):
    mu, log_sigma = theta
    return -0.5 * jnp.sum(((x - mu) / jnp.exp(log_sigma)) ** 2) - x.size * log_sigma


def ensemble_step(walkers, x, key, scale):
    scores = jax.vmap(lambda w: likelihood(w, x))(walkers)  # finding
    noise = scale * jax.random.normal(key, walkers.shape)
    proposal = jax.vmap(lambda w: likelihood(w, x))(walkers + noise)
    return jnp.where((proposal > scores)[:, None], walkers + noise, walkers)


def sample(walkers, x, key, n):
    for k in jax.random.split(key, n):
        walkers = ensemble_step(walkers, x, k, 0.1)  # finding-also
    return walkers


if __name__ == "__main__":
    print(sample(jnp.zeros((16, 2)), jnp.ones(10), jax.random.key(0), 50).mean(0))
