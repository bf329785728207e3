# the loss in place of the gradients

import jax
import jax.numpy as jnp
import optax

tx = optax.adam(1e-3)


def loss(params, x, y):
    return jnp.mean((x @ params - y) ** 2)


def with_norm(params, x, y):
    error = jnp.mean((x @ params - y) ** 2)
    return error, {"norm": jnp.linalg.norm(params)}


@jax.jit
def step(params, state, x, y):
    grads, value = jax.value_and_grad(loss)(params, x, y)
    updates, state = tx.update(grads, state, params)  # finding
    return optax.apply_updates(params, updates), state, value


@jax.jit
def step_with_norm(params, state, x, y):
    grads, (value, aux) = jax.value_and_grad(with_norm, has_aux=True)(params, x, y)
    updates, state = tx.update(grads, state, params)  # finding
    return optax.apply_updates(params, updates), state


def train(state, x, y):
    grads, value = jax.value_and_grad(loss)(state.params, x, y)
    return state.apply_gradients(grads=grads), value  # finding
