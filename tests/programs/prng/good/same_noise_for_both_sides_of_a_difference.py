# blind: tenth

import jax
import jax.numpy as jnp


def noisy_cost(theta, key):
    return jnp.mean((theta + 0.1 * jax.random.normal(key, (64,))) ** 2)


def finite_difference(theta, key, eps=1e-3):
    """Common random numbers: both sides see the same noise."""
    return (noisy_cost(theta + eps, key) - noisy_cost(theta - eps, key)) / (2 * eps)


theta, key = jnp.asarray(1.0), jax.random.key(0)
for _ in range(5):
    key, sub = jax.random.split(key)
    theta = theta - 0.1 * finite_difference(theta, sub)
print(theta)
