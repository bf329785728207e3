# attributes of static arguments that the caller assigns between two calls

import functools

import jax
import jax.numpy as jnp
import optax


@functools.partial(jax.jit, static_argnames=("loss", "tx"))
def minimise(loss, params, data, tx, state):
    grads = jax.grad(loss)(params, data)
    updates, state = tx.update(grads, state)
    return optax.apply_updates(params, updates), state


def penalised(weight):
    def loss(params, data):
        return jnp.mean((data @ params) ** 2) + loss.weight * jnp.sum(params**2)

    loss.weight = weight
    return loss


def fit(loss, params, batches, tx):
    state = tx.init(params)
    for step, batch in enumerate(batches):
        params, state = minimise(loss, params, batch, tx, state)
        if step % 100 == 0:
            loss.weight = 0.9**step  # finding
    return params


def fit_once(loss, params, batches, tx, weight):
    loss.weight = weight
    state = tx.init(params)
    for batch in batches:
        params, state = minimise(loss, params, batch, tx, state)
    loss.calls = len(batches)
    return params


def fit_and_count(loss, params, batches, tx):
    state = tx.init(params)
    for step, batch in enumerate(batches):
        params, state = minimise(loss, params, batch, tx, state)
        loss.steps = step
    return params


def fit_anew(params, batches, tx):
    state = tx.init(params)
    for step, batch in enumerate(batches):
        loss = penalised(0.9**step)
        params, state = minimise(loss, params, batch, tx, state)
    return params


tx = optax.sgd(0.1)
data = [jnp.ones((4, 3))] * 300
fit(penalised(1.0), jnp.ones(3), data, tx)
fit_once(penalised(1.0), jnp.ones(3), data, tx, 0.5)
fit_and_count(penalised(1.0), jnp.ones(3), data, tx)
fit_anew(jnp.ones(3), data, tx)
