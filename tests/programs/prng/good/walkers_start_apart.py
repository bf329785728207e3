# source: RobertTLange/gymnax#93
# blind: second

import jax
import jax.numpy as jnp


def initial_position(key, dim, spread=2.0):
    return spread * jax.random.normal(key, (dim,))


def log_density(x):
    return -0.5 * jnp.sum(x**2)


def step(x, key):
    propose, accept = jax.random.split(key)
    y = x + 0.5 * jax.random.normal(propose, x.shape)
    take = jnp.log(jax.random.uniform(accept)) < log_density(y) - log_density(x)
    return jnp.where(take, y, x)


def sample(key, chains, dim, length):
    start_key, run_key = jax.random.split(key)

    def chain(index):
        x = initial_position(jax.random.fold_in(start_key, index), dim)
        keys = jax.random.split(jax.random.fold_in(run_key, index), length)
        return jax.lax.scan(lambda x, k: (step(x, k),) * 2, x, keys)[1]

    return jax.vmap(chain)(jnp.arange(chains))


if __name__ == "__main__":
    print(sample(jax.random.key(0), 4, 2, 5).shape)
