# an optimiser after a jitted gradient

import functools

import jax
import jax.numpy as jnp
import optax


def loss_fn(params, x, y):
    return jnp.mean((x @ params["w"] - y) ** 2)


grad_fn = jax.jit(jax.value_and_grad(loss_fn))


def train(params, batches):
    optimizer = optax.adam(1e-3)
    opt_state = optimizer.init(params)
    losses = []

    @functools.partial(jax.jit, donate_argnums=(0, 1))
    def train_step(params, opt_state, x, y):
        loss, grads = grad_fn(params, x, y)
        updates, opt_state = optimizer.update(grads, opt_state)
        params = optax.apply_updates(params, updates)
        return params, opt_state, loss

    for x, y in batches:
        params, opt_state, loss = train_step(params, opt_state, x, y)
        losses.append(float(loss))
    return params, losses
