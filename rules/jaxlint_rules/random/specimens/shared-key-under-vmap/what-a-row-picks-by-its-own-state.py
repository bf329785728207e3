# a place that a row picks where it has found something, and a batch that all rows take

import functools

import jax
import jax.numpy as jnp

def step(places, moves, goal, free, key):
    @functools.partial(jax.vmap, in_axes=(0, 0))
    def move(place, by):
        place = place + by
        found = jnp.all(place == goal)
        return jax.lax.cond(found, lambda: jax.random.choice(key, free), lambda: place)  # finding

    return move(places, moves)

def restart(places, goal, key):
    def again(place):
        found = place == goal
        return jnp.where(found, jax.random.randint(key, (), 0, 10), place)  # finding

    return jax.vmap(again)(places)

def one_batch_for_all(weights, data, key):
    def train(w):
        batch = jax.random.choice(key, data, (32,))
        return w - 0.1 * jnp.mean(batch @ w)

    return jax.vmap(train)(weights)

def a_batch_or_none(rows, data, key, *, sampled):
    def score(row):
        batch = jax.lax.cond(sampled, lambda: jax.random.choice(key, data), lambda: data[0])
        return jnp.sum(batch * row)

    return jax.vmap(score)(rows)

def a_key_for_each(places, goal, free, key):
    def again(place, key):
        return jax.lax.cond(place[0] == goal, lambda: jax.random.choice(key, free), lambda: place)

    return jax.vmap(again)(places, jax.random.split(key, len(places)))
