# a function that draws, called with a key from outside

import jax
import jax.numpy as jnp

def reset(key, low=-0.05):
    return jax.random.uniform(key, (4,), minval=low)

def loss(params, key):
    return jnp.sum(params * jax.random.normal(key, params.shape))

def start(key, count):
    return jax.vmap(lambda _: reset(key))(jnp.arange(count))  # finding

def each(key, count):
    return jax.vmap(lambda k: reset(k))(jax.random.split(key, count))

def rollout(key, policy, count):
    state = jax.vmap(lambda _: reset(key))(jnp.arange(count))  # finding
    return policy(state)

def compared(key, population):
    return jax.vmap(lambda params: loss(params, key))(population)
