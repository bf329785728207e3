# keywords of PyTorch and NumPy, in functions, methods and a partial
from functools import partial

import flax.linen as nn
import jax
import jax.numpy as jnp
from jax import random


@partial(jax.jit, static_argnum=1)  # finding
def normalised(x, power):
    total = jnp.sum(x, dim=-1, keepdim=True)  # finding
    return (x / total) ** power


def grid(start, stop):
    return jnp.linspace(start, stop, steps=100)  # finding


def noise(key):
    return random.normal(key, size=(8, 3))  # finding


def largest(x):
    return jnp.exp(x).max(dim=0)  # finding


def attention(scores):
    return nn.softmax(scores, dim=-1)  # finding
