# as a statement, and names that nothing reads

import jax
from jax import random

def noisy(key, x):
    jax.random.split(key)  # finding
    return x + jax.random.normal(key, x.shape)

def steps(key, x, model):
    for i in range(10):
        step_key = random.fold_in(key, i)  # finding
        x = model.sample(key, x)
    return x

def init(rng, model, x):
    params_rng, dropout_rng = random.split(rng)  # finding
    return model.init(rng, x)
