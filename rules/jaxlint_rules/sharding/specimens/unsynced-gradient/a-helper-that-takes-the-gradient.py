# a helper of the mapped function takes the gradient, under jit too; helpers that average, or that train alone

from functools import partial

import jax
import jax.numpy as jnp


def loss(params, batch):
    return jnp.mean((batch @ params) ** 2)


def backward(state, batch):
    value, grads = jax.value_and_grad(loss)(state.params, batch)
    return state.apply_gradients(grads=grads), value  # finding


def train_step(state, batch):
    state, value = backward(state, batch)
    return state, value


step = jax.pmap(jax.jit(train_step), axis_name="devices")


def backward_averaged(state, batch):
    value, grads = jax.value_and_grad(loss)(state.params, batch)
    grads = jax.lax.pmean(grads, "devices")
    return state.apply_gradients(grads=grads), value


@partial(jax.pmap, axis_name="devices")
def averaged(state, batch):
    return backward_averaged(state, batch)


def only_gradient(state, batch):
    return jax.grad(loss)(state.params, batch)


@partial(jax.pmap, axis_name="devices")
def averaged_here(state, batch):
    grads = jax.lax.pmean(only_gradient(state, batch), "devices")
    return state.apply_gradients(grads=grads)


def average(tree):
    return jax.lax.pmean(tree, "devices")


def backward_then_average(state, batch):
    state = state.apply_gradients(grads=average(only_gradient(state, batch)))
    return state


@partial(jax.pmap, axis_name="devices")
def averaged_by_another(state, batch):
    return backward_then_average(state, batch)


def alone(state, batch):
    grads = jax.grad(loss)(state.params, batch)
    return state.apply_gradients(grads=grads)


ensemble = jax.pmap(lambda state, batch: alone(state, batch))
