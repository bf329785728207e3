# keywords that stand for no parameter, or for one that the call passes already
import jax
import jax.numpy as jnp


def noise(key):
    return jax.random.normal(key, (3,), scale=2.0)  # finding


def totals(x):
    first = jnp.sum(x, 0, dim=1)  # finding
    return first, jnp.sum(x, axis=0, dim=1)  # finding
