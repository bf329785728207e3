# unpacked, indexed, handed on, not mutable

import jax.numpy as jnp

def loss(model, variables, x, y):
    logits, changed = model.apply(variables, x, mutable=["batch_stats"])
    return jnp.mean((logits - y) ** 2), changed

def first(model, variables, x):
    out = model.apply(variables, x, mutable=["batch_stats"])
    return out[0].shape

def pair(model, variables, x):
    out = model.apply(variables, x, mutable=["batch_stats"])
    return out

def plain(model, variables, x):
    out = model.apply(variables, x, mutable=False)
    return out.shape
