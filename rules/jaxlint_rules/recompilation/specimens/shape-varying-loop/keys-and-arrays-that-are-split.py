# keys and arrays that are split in each iteration: no text

import jax
import jax.numpy as jnp


@jax.jit
def train_step(state, keys):
    return state + jax.vmap(lambda key: jax.random.normal(key, ()))(keys).sum()


@jax.jit
def add(state, parts):
    return state + parts.sum()


def train(state, key, config, steps):
    for step in range(steps):
        config = config.replace(best=step)
        key = jnp.array(jax.random.split(key[0], config.devices))
        state = train_step(state, key)
    return state


def fold(state, rows, config, steps):
    for step in range(steps):
        config = config.replace(best=step)
        state = add(state, jnp.asarray(jnp.split(rows, config.parts)))
    return state


@jax.jit
def embed(state, ids):
    return state + ids.sum()


def read(state, lines, table):
    for line in lines:
        state = embed(state, jnp.array([table[word] for word in line.split(" ")]))  # finding
    return state
