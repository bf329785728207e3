# gradients and values in their places

import jax
import jax.numpy as jnp
import optax

tx = optax.adam(1e-3)
search = optax.lbfgs()


def loss(params, x, y):
    return jnp.mean((x @ params - y) ** 2)


@jax.jit
def step(params, state, x, y):
    value, grads = jax.value_and_grad(loss)(params, x, y)
    updates, state = tx.update(grads, state, params)
    return optax.apply_updates(params, updates), state, value


@jax.jit
def search_step(params, state, x, y):
    value, grads = jax.value_and_grad(loss)(params, x, y)
    updates, state = search.update(
        grads, state, params, value=value, grad=grads, value_fn=lambda p: loss(p, x, y)
    )
    return optax.apply_updates(params, updates), state


def train(state, metrics, x, y):
    value, grads = jax.value_and_grad(loss)(state.params, x, y)
    metrics.update(loss=value)
    metrics.update("loss", value)
    return state.apply_gradients(grads=grads), metrics
