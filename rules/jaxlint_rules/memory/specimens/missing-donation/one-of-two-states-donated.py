# the parameters are donated and the state of the optimizer is not; a batch is donated in place of the state; both are

import functools

import jax
import jax.numpy as jnp
import optax

optimizer = optax.adam(1e-3)


def loss(params, x):
    return jnp.mean((x @ params["w"]) ** 2)


def update(params, opt_state, x):
    value, grads = jax.value_and_grad(loss)(params, x)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, value


@functools.partial(jax.jit, donate_argnums=0)  # finding
def forgets_one(params, opt_state, x):
    return update(params, opt_state, x)


@functools.partial(jax.jit, donate_argnames="x")  # finding
def donates_the_batch(params, opt_state, x):
    grads = jax.grad(loss)(params, x)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss(params, x)


@functools.partial(jax.jit, donate_argnames=("params", "opt_state"))
def by_name(params, opt_state, x):
    return update(params, opt_state, x)


@functools.partial(jax.jit, donate_argnums=(0, 1))
def by_number(params, opt_state, x):
    return update(params, opt_state, x)


def main(data):
    params = {"w": jnp.ones((512, 512))}
    opt_state = optimizer.init(params)
    for x in data:
        params, opt_state, value = forgets_one(params, opt_state, x)
        params, opt_state, value = by_name(params, opt_state, x)
        params, opt_state, value = by_number(params, opt_state, x)
    return params


def other(data):
    params = {"w": jnp.ones((512, 512))}
    opt_state = optimizer.init(params)
    for x in data:
        params, opt_state, value = donates_the_batch(params, opt_state, x)
    return params
