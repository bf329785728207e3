# from outside of the loop, in the carry, over leaves, in an object

import jax
import jax.numpy as jnp
from jax import random

def walk(key, x):
    def body(x, _):
        return x + random.normal(key, x.shape), None  # finding
    return jax.lax.scan(body, x, length=100)

def anneal(key, x):
    return jax.lax.fori_loop(0, 10, lambda i, y: y + i * random.normal(key, y.shape), x)  # finding

def sample(key, xs):
    def body(carry, x):
        key, total = carry
        total = total + x * random.normal(key)  # finding
        return (key, total), total
    return jax.lax.scan(body, (key, 0.0), xs)

def perturb(key, params):
    return jax.tree.map(lambda p: p + random.normal(key, p.shape), params)  # finding

class Agent:
    def __init__(self, seed):
        self.key = jax.random.key(seed)

    def act(self, logits):
        return jax.random.categorical(self.key, logits)  # finding
