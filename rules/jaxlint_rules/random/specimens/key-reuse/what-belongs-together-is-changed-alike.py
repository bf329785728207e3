# what belongs together is changed alike, by one function that holds the key

import functools

import jax
import jax.numpy as jnp


def shift(image, key):
    return jnp.roll(image, jax.random.randint(key, (), -4, 4), axis=0)


def shifted(observation, following, key):
    move = functools.partial(shift, key=key)
    return move(observation), move(following)


def batches(data, labels, key):
    def shuffle(x):
        return jax.random.permutation(key, x)

    return jax.tree.map(shuffle, data), jax.tree.map(shuffle, labels)


def apart(first, second, key):
    a = functools.partial(shift, key=key)(first)
    b = shift(second, key)  # finding
    return a, b
