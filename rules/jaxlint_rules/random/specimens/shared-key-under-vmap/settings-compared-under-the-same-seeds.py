# settings that are compared under the same seeds, which another vmap maps

import jax
import jax.numpy as jnp

def make_train(config):
    def train(seed, coefficient):
        seed, start = jax.random.split(seed)
        w = jax.random.normal(start, (3,))
        return coefficient * w + jax.random.normal(seed, (3,))
    return train

def sweep(coefficients):
    seeds = jax.random.split(jax.random.PRNGKey(0), 8)
    over_seeds = jax.vmap(make_train({}), in_axes=(0, None))
    return jax.jit(jax.vmap(over_seeds, in_axes=(None, 0)))(seeds, coefficients)

def sweep_of_jitted(coefficients):
    seeds = jax.random.split(jax.random.PRNGKey(1), 8)
    over_seeds = jax.jit(jax.vmap(make_train({}), in_axes=(0, None)))
    return jax.vmap(over_seeds, in_axes=(None, 0))(seeds, coefficients)
