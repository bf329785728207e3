# draws that replace those of a layer, and draws for different elements of one array

import equinox as eqx
import jax
import jax.numpy as jnp


def near_identity(key, n):
    return eqx.tree_at(lambda m: m.weight, eqx.nn.Linear(n, n, key=key), 0.02 * jax.random.normal(key, (n, n)))


def beside_each_other(key, n):
    return eqx.nn.Linear(n, n, key=key), 0.02 * jax.random.normal(key, (n, n))  # finding


def action(key, low, high, shape):
    sample = jax.random.uniform(key, shape, minval=low, maxval=high)
    tail = jax.random.exponential(key, shape)
    sample = jnp.where(jnp.isinf(low), high - tail, sample)
    return jnp.where(jnp.isinf(high), low + sample, sample)


def action_and_tail(key, low, high, shape):
    sample = jax.random.uniform(key, shape, minval=low, maxval=high)
    tail = jax.random.exponential(key, shape)  # finding
    sample = jnp.where(jnp.isinf(low), high - tail, sample)
    return sample + tail


def mixed(key, mask, shape):
    noise = jax.random.normal(key, shape)
    noise = jnp.where(mask, jax.random.uniform(key, shape), noise)
    return noise


def added(key, mask, shape):
    noise = jax.random.normal(key, shape)
    noise = noise + jax.random.uniform(key, shape)  # finding
    return noise
