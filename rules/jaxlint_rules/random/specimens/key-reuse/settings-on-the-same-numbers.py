# a few settings that are compared on the same numbers, and branches of which one is taken

import jax
import jax.numpy as jnp

def run(lr, key):
    w = jax.random.normal(key, (8,))
    return float(jnp.sum((w - lr * w) ** 2))

def sweep():
    key = jax.random.key(0)
    return {lr: run(lr, key) for lr in (0.01, 0.1, 1.0)}

def sample(key, mode, n):
    if mode == "uniform":
        x = jax.random.uniform(key, (n,))
    if mode != "uniform":
        x = jax.random.normal(key, (n,))
    return x

def position(key, flat):
    return jax.lax.select(flat, jax.random.uniform(key, (2,)), jax.random.normal(key, (2,)))

def measure(key, before, after):
    first = jnp.mean(before + jax.random.normal(key, (10,)))
    second = jnp.mean(after + jax.random.normal(key, (10,)))  # the same seed as before
    return first, second

def flip(image, key):
    return jnp.where(jax.random.bernoulli(key), image[::-1], image)

def augment(image, mask, key):
    image = flip(image, key)
    mask = flip(mask, key)
    return image, mask
