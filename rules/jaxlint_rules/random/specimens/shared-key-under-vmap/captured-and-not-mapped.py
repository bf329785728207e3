# captured, and not mapped

import jax
from jax import random

def noisy(key, xs):
    return jax.vmap(lambda x: x + random.normal(key, x.shape))(xs)  # finding

def add_noise(key, x):
    return x + random.normal(key, x.shape)

def batch(key, xs):
    return jax.vmap(add_noise, in_axes=(None, 0))(key, xs)  # finding
