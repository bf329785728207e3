# keys that are used, renewed or handed on

import jax
from jax import random

def steps(key, x, model):
    for i in range(10):
        key, sub = random.split(key)
        x = model.sample(sub, x)
    key, unused = random.split(key)
    return x, key

def init(rng, model, x):
    _, rng = random.split(rng)
    keys = random.split(rng)
    return model.init(keys[0], x)

def closed(rng, model):
    new, sub = random.split(rng)
    def draw(x):
        return model.init(sub, x)
    return draw, rng

def unused(rng, x):
    new, sub = random.split(rng)
    return x
