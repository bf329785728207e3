# a squashed action, a sigmoid beside one, the inverse of tanh, and segments and counts that may be empty
from typing import NamedTuple

import jax
import jax.numpy as jnp


@jax.jit
def log_prob(x, log_std):
    action = jnp.tanh(x)
    correction = jnp.log(1 - action**2)  # finding
    also = jnp.log1p(-jnp.square(jnp.tanh(x)))  # finding
    factored = jnp.log((1 - action) * (1 + action))  # finding
    return -log_std - correction - also - factored, jnp.arctanh(action)  # finding


@jax.jit
def odds(x):
    p = jax.nn.sigmoid(x)
    return p / (1 - p)  # finding


@jax.jit
def mean_of_neighbours(messages, receivers):
    total = jax.ops.segment_sum(messages, receivers, 50)
    degree = jax.ops.segment_sum(jnp.ones(messages.shape[0]), receivers, 50)
    return total / degree[:, None]  # finding


class Stats(NamedTuple):
    total: jax.Array
    count: jax.Array


def running_means(rewards):
    def body(stats, reward):
        centred = reward - stats.total / stats.count  # finding
        return Stats(stats.total + reward, stats.count + 1), centred

    return jax.lax.scan(body, Stats(jnp.zeros(()), jnp.zeros(())), rewards)


@jax.jit
def whiten(x):
    mean = jnp.mean(x, axis=0)
    var = jnp.mean(x**2, axis=0) - mean**2
    return (x - mean) / jnp.sqrt(var)  # finding
