# two steps that call one function, which differentiates: both are told, with the state of the optimizer

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


@jax.jit  # finding
def warm_up(params, opt_state, x):
    return update(params, opt_state, x)


@jax.jit  # finding
def step(params, opt_state, x):
    return update(params, opt_state, x)


def warm(params, opt_state, data):
    for x in data:
        params, opt_state, value = warm_up(params, opt_state, x)
    return params, opt_state


def main(data):
    params = {"w": jnp.ones((512, 512))}
    params, opt_state = warm(params, optimizer.init(params), data)
    for x in data:
        params, opt_state, value = step(params, opt_state, x)
    return params
