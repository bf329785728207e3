# arithmetic with the pair, and an attribute of an array

import flax.linen as nn
import jax.numpy as jnp

def loss(model: nn.Module, variables, x, y):
    logits = model.apply(variables, x, mutable=["batch_stats"])  # finding
    return jnp.mean((logits - y) ** 2)

def rank(model, variables, x):
    out = model.apply(variables, x, mutable="batch_stats")  # finding
    return out.shape
