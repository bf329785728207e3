# parameters that a partial binds once, while training goes on

from functools import partial

import jax
import jax.numpy as jnp


def predict(params, x):
    for w in params:
        x = jnp.tanh(x @ w)
    return x


def evaluate(train_step, params, loader):
    infer = jax.jit(partial(predict, params))  # finding
    for batch in loader:
        params = train_step(params, batch)
        infer(batch)
    return params
