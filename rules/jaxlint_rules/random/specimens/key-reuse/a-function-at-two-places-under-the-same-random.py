# a function at two places under the same random numbers, and two draws

import jax
import jax.numpy as jnp

def estimate(theta, key):
    return jnp.mean(jnp.exp(theta * jax.random.normal(key, (64,))))

def slope(theta, key, h):
    return (estimate(theta + h, key) - estimate(theta - h, key)) / (2 * h)

def antithetic(thetas, keys, eps):
    above = jax.vmap(estimate)(thetas + eps, keys)
    below = jax.vmap(estimate)(thetas - eps, keys)
    return (above - below).mean()

def shifted(theta, key, h):
    return estimate(theta + h, key), estimate(theta + 2 * h, key)  # finding

def difference(key):
    return jax.random.normal(key) - jax.random.normal(key)  # finding

def both(theta, key):
    return estimate(theta, key), estimate(2 * theta, key)  # finding
