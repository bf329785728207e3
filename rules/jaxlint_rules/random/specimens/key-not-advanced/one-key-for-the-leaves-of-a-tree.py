# one key for the leaves of a tree, in a function that has a name

import jax
from jax import random

def loss(params, x):
    return (x @ params["w"] + params["b"]).sum()

def private_gradients(params, x, rng):
    noisy = lambda g: g + random.normal(rng, g.shape)  # finding
    return jax.tree.map(noisy, jax.grad(loss)(params, x))

def perturbed(params, key):
    noisy = lambda p: p + random.normal(key, p.shape)  # finding
    return jax.tree.map(noisy, params)

def two_parts(w, b, key):
    return jax.tree.map(lambda p: p + random.normal(key, p.shape), {"w": w, "b": b})  # finding

def one_part(w, key):
    return jax.tree.map(lambda p: p + random.normal(key, p.shape), {"w": w})

def a_key_for_each(w, b, key):
    keys = dict(zip("wb", random.split(key)))
    return jax.tree.map(lambda p, k: p + random.normal(k, p.shape), {"w": w, "b": b}, keys)

def an_array(image, key):
    noisy = lambda p: p + random.normal(key, p.shape)
    return jax.tree.map(noisy, image)
