# functions that every argument of a donating step stands beside
from functools import partial

import equinox as eqx
import jax.numpy as jnp

def loss(model, x, weight):
    return jnp.sum(model * x * weight)

@eqx.filter_jit(donate="all")
def step(model, loss_fn, x):
    return model - eqx.filter_grad(loss_fn)(model, x)

def train(model, loader, flag):
    weighted = partial(loss, weight=2.0) if flag else partial(loss, weight=1.0)
    for batch in loader:
        model = step(model, weighted, batch)
        model = step(model, loss, batch.copy())
        print(batch.mean())
    return model, weighted, loss
