# renewed, or meant to be the same

import flax.linen as nn
import jax
import jax.numpy as jnp
from jax import random

def walk(key, x):
    def body(x, key):
        return x + random.normal(key, x.shape), None
    return jax.lax.scan(body, x, random.split(key, 100))

def anneal(key, x):
    return jax.lax.fori_loop(0, 10, lambda i, y: y + random.normal(random.fold_in(key, i), y.shape), x)

def picked(key, x):
    def body(i, y):
        return y + random.normal(random.split(key, 10)[i], y.shape)
    return jax.lax.fori_loop(0, 10, body, x)

def sample(key, xs):
    def body(carry, x):
        key, total = carry
        key, sub = random.split(key)
        total = total + x * random.normal(sub)
        return (key, total), total
    return jax.lax.scan(body, (key, 0.0), xs)

def shuffled(key, batch):
    return jax.tree.map(lambda x: random.permutation(key, x), batch)

def conditional(key, logits, greedy):
    if greedy:
        return key, jnp.argmax(logits)
    key, sub = random.split(key)
    return key, random.categorical(sub, logits)

class Layer(nn.Module):
    key: jax.Array

    @nn.compact
    def __call__(self, x):
        return x @ self.param("w", lambda _: random.normal(self.key, (3, 3)))

class Sampler:
    def __init__(self, seed):
        self.init_key = jax.random.key(seed)

    def start(self):
        return random.normal(self.init_key, (3,))

class Agent:
    def __init__(self, seed):
        self.key = jax.random.key(seed)
        self.weights = random.normal(jax.random.fold_in(self.key, 0), (3,))

    def act(self, logits):
        self.key, sub = jax.random.split(self.key)
        return jax.random.categorical(sub, logits)

import equinox as eqx

class Sampler(eqx.Module):
    key: jax.Array

    def __call__(self, x):
        return x + jax.random.normal(self.key, x.shape)
