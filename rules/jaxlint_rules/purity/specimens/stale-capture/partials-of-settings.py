# partials that bind what stays, and those that are made anew

from functools import partial

import jax
import jax.numpy as jnp


def predict(depth, params, x):
    for i in range(depth):
        x = jnp.tanh(x @ params[i])
    return x


def evaluate(train_step, params, loader):
    depth = len(params)
    infer = jax.jit(partial(predict, depth))
    for batch in loader:
        params = train_step(params, batch)
        infer(params, batch)
    final = jax.jit(partial(predict, depth, params))
    return [final(batch) for batch in loader]
