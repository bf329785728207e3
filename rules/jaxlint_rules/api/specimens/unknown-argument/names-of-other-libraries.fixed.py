# keywords of PyTorch and NumPy, in functions, methods and a partial
from functools import partial

import flax.linen as nn
import jax
import jax.numpy as jnp
from jax import random


@partial(jax.jit, static_argnums=1)
def normalised(x, power):
    total = jnp.sum(x, axis=-1, keepdims=True)
    return (x / total) ** power


def grid(start, stop):
    return jnp.linspace(start, stop, num=100)


def noise(key):
    return random.normal(key, shape=(8, 3))


def largest(x):
    return jnp.exp(x).max(axis=0)


def attention(scores):
    return nn.softmax(scores, axis=-1)
