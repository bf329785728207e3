# an optimizer of each epoch for filter_jit, one in the state of each fold, and a static one
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from flax.training.train_state import TrainState


def loss_fn(params, x, y):
    return jnp.mean((x @ params - y) ** 2)


@eqx.filter_jit
def filtered_step(params, opt_state, optim, x, y):
    grads = jax.grad(loss_fn)(params, x, y)
    updates, opt_state = optim.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state


def make_optimizer(rate):
    return optax.chain(optax.clip_by_global_norm(1.0), optax.adam(rate))


def fit(params, x, y, epochs):
    opt_state = make_optimizer(1e-2).init(params)
    for epoch in range(epochs):
        optim = make_optimizer(1e-2 * 0.9**epoch)
        for _ in range(100):
            params, opt_state = filtered_step(params, opt_state, optim, x, y)  # finding
    return params


@jax.jit
def state_step(state, x, y):
    return state.apply_gradients(grads=jax.grad(loss_fn)(state.params, x, y))


def create_state(rate):
    return TrainState.create(apply_fn=loss_fn, params=jnp.zeros(3), tx=optax.adam(rate))


def folds(x, y):
    for held in range(10):
        state = create_state(1e-3)
        for _ in range(100):
            state = state_step(state, jnp.delete(x, held, axis=0), jnp.delete(y, held, axis=0))  # finding
        yield state


@partial(jax.jit, static_argnames="tx")
def static_step(params, opt_state, x, y, tx):
    updates, opt_state = tx.update(jax.grad(loss_fn)(params, x, y), opt_state)
    return optax.apply_updates(params, updates), opt_state


def anneal(params, opt_state, x, y, rounds):
    for number in range(rounds):
        tx = optax.sgd(0.1 / (1 + number))
        params, opt_state = static_step(params, opt_state, x, y, tx=tx)  # finding
    return params
