# optimisers, which are tuples of functions

from functools import partial
import jax
import optax

@partial(jax.jit, static_argnames="tx")
def step(params, state, grads, tx):
    updates, state = tx.update(grads, state, params)
    return optax.apply_updates(params, updates), state

def train(params, grads):
    tx = optax.inject_hyperparams(optax.sgd)(learning_rate=0.1)
    return step(params, tx.init(params), grads, tx=tx)
