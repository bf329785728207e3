# the rest of a split, whose keys differ, and one key many times

import jax
import jax.numpy as jnp


def draw(key):
    return jax.random.normal(key, (3,))


def draw_again(key):
    return jax.random.uniform(key, (3,))


def draw_many(key, count):
    key, *keys = jax.random.split(key, count + 1)
    return jax.vmap(draw)(jnp.array(keys))


def draw_the_same(key, count):
    return jax.vmap(draw_again)(jnp.stack([key] * count))  # finding
