# a key per row, a draw for all rows, a shared permutation

import jax
from jax import random

def add_noise(key, x):
    return x + random.normal(key, x.shape)

def batch(key, xs):
    keys = random.split(key, len(xs))
    return jax.vmap(add_noise)(keys, xs), jax.vmap(lambda i, x: add_noise(random.fold_in(key, i), x))(keys, xs)

def whole(key, xs):
    noise = random.normal(key, xs.shape)
    return jax.vmap(lambda x, n: x + n)(xs, noise)

def shuffled(key, columns):
    return jax.vmap(lambda c: random.permutation(key, c))(columns)
