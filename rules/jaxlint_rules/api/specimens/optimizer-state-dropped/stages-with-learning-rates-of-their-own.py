# stages that each have a learning rate from a list, and an optimizer that each epoch creates from the same number

import jax
import jax.numpy as jnp
import optax


def loss(params, x):
    return jnp.mean((x @ params) ** 2)


def in_stages(params, loader, steps_of, rates):
    for steps, rate in zip(steps_of, rates):
        tx = optax.adam(rate)
        opt_state = tx.init(params)
        for x in loader(steps):
            updates, opt_state = tx.update(jax.grad(loss)(params, x), opt_state)
            params = optax.apply_updates(params, updates)
    return params


def anew_in_each_epoch(params, loader, epochs):
    for epoch in range(epochs):
        tx = optax.adam(1e-3)
        opt_state = tx.init(params)  # finding
        for x in loader:
            updates, opt_state = tx.update(jax.grad(loss)(params, x), opt_state)
            params = optax.apply_updates(params, updates)
    return params


def decayed_in_each_epoch(params, loader, epochs):
    for epoch in range(epochs):
        tx = optax.adam(1e-3 * 0.9**epoch)
        opt_state = tx.init(params)  # finding
        for x in loader:
            updates, opt_state = tx.update(jax.grad(loss)(params, x), opt_state)
            params = optax.apply_updates(params, updates)
    return params
