# a state that each epoch makes anew for the parameters that go on, and trainings that begin anew altogether

import jax
import jax.numpy as jnp
import optax

tx = optax.adam(1e-3)


@jax.jit
def update(params, opt_state, x):
    grads = jax.grad(lambda p: jnp.mean((x @ p) ** 2))(params)
    updates, opt_state = tx.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state


def fit(params, loader, epochs):
    for epoch in range(epochs):
        opt_state = tx.init(params)  # finding
        for x in loader:
            params, opt_state = update(params, opt_state, x)
    return params


def restarts(make, loader, epochs):
    for step in range(epochs):
        params = make(step)
        opt_state = tx.init(params)
        for x in loader:
            params, opt_state = update(params, opt_state, x)
    return params


def without_state(params, batches):
    for epoch in range(3):
        sgd = optax.sgd(0.1 * 0.9**epoch)
        opt_state = sgd.init(params)
        for x in batches:
            updates, opt_state = sgd.update(x * params, opt_state)
            params = optax.apply_updates(params, updates)
    return params


def tasks(params, loaders):
    for task in loaders:
        opt_state = tx.init(params)
        for x in task:
            params, opt_state = update(params, opt_state, x)
    return params
