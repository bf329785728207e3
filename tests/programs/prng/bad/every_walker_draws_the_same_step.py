# source: blackjax-devs/blackjax#53
# blind: fifth

import jax
import jax.numpy as jnp


def log_density(x):
    return -0.5 * jnp.sum(x**2)


def metropolis(key, x, scale):
    k_step, k_accept = jax.random.split(key)
    proposal = x + scale * jax.random.normal(k_step, x.shape)
    log_ratio = log_density(proposal) - log_density(x)
    accept = jnp.log(jax.random.uniform(k_accept)) < log_ratio
    return jnp.where(accept, proposal, x)


@jax.jit
def advance(key, walkers):
    return jax.vmap(metropolis, in_axes=(None, 0, None))(key, walkers, 0.3)  # finding


def run(seed, n_walkers, n_steps):
    key = jax.random.key(seed)
    walkers = jnp.zeros((n_walkers, 2))
    for step in range(n_steps):
        walkers = advance(jax.random.fold_in(key, step), walkers)
    return walkers


if __name__ == "__main__":
    print(run(0, 4, 20))
