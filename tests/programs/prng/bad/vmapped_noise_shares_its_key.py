# source: jax-ml/jax#20082
# blind: eighth

import jax
import jax.numpy as jnp


def langevin(x, key, steps=20, eta=0.1):
    def body(x, k):
        return x - eta * x + jnp.sqrt(2 * eta) * jax.random.normal(k, x.shape), None

    return jax.lax.scan(body, x, jax.random.split(key, steps))[0]


def sample_chains(key, n_chains, dim):
    starts = jnp.zeros((n_chains, dim))
    return jax.vmap(langevin, in_axes=(0, None))(starts, key)  # finding


if __name__ == "__main__":
    print(sample_chains(jax.random.key(0), 4, 2))
