# steps of pmap, around a jitted function, of equinox; an evaluation, a step that donates

from functools import partial

import equinox as eqx
import jax
import optax


def loss_fn(state, params, batch):
    return state.apply_fn(params, batch).mean()


@partial(jax.pmap, axis_name="devices")  # finding
def step(state, batch):
    grads = jax.grad(loss_fn, argnums=1)(state, state.params, batch)
    return state.apply_gradients(grads=jax.lax.pmean(grads, "devices"))


def plain(state, batch):
    grads = jax.grad(loss_fn, argnums=1)(state, state.params, batch)
    return state.apply_gradients(grads=jax.lax.pmean(grads, "devices"))


nested = jax.pmap(jax.jit(plain), axis_name="devices")  # finding


@partial(eqx.filter_pmap, in_axes=(None, 0, None, 0, 0), axis_name="devices")  # finding
def update(model, params, tx, opt_state, batch):
    grads = jax.grad(lambda p: model.apply(p, batch).mean())(params)
    updates, opt_state = tx.update(jax.lax.pmean(grads, "devices"), opt_state, params)
    return optax.apply_updates(params, updates), opt_state


@partial(jax.pmap, axis_name="devices", donate_argnums=(0,))
def donating(state, batch):
    grads = jax.grad(loss_fn, argnums=1)(state, state.params, batch)
    return state.apply_gradients(grads=jax.lax.pmean(grads, "devices"))


@partial(jax.pmap, axis_name="devices")
def evaluate(state, batch):
    return jax.lax.pmean(loss_fn(state, state.params, batch), "devices")


def train(state, other, batches, model, params, tx, opt_state):
    total = 0.0
    for batch in batches:
        state = step(state, batch)
        other = nested(other, batch)
        params, opt_state = update(model, params, tx, opt_state, batch)
        total += evaluate(state, batch)
    return state, other, params, total


def train_in_place(state, batches):
    for batch in batches:
        state = donating(state, batch)
    return state
