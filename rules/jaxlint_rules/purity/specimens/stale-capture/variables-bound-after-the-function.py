# variables that are bound after the function

import equinox as eqx
import jax
import jax.numpy as jnp
import optax


def loss(params, x):
    return jnp.mean((x @ params) ** 2)


def in_phases(params, x, phases):
    @jax.jit
    def step(params, state):
        updates, state = optimizer.update(jax.grad(loss)(params, x), state)  # finding
        return optax.apply_updates(params, updates), state

    for steps, rate in phases:
        optimizer = optax.adam(rate)
        state = optimizer.init(params)
        for _ in range(steps):
            params, state = step(params, state)
    return params


def in_phases_of_equinox(model, x, rates):
    optimizer = optax.sgd(0.1)

    @eqx.filter_jit
    def step(model, state):
        grads = eqx.filter_grad(lambda m: jnp.mean(jax.vmap(m)(x) ** 2))(model)
        updates, state = optimizer.update(grads, state)  # finding
        return eqx.apply_updates(model, updates), state

    for rate in rates:
        optimizer = optax.sgd(rate)
        state = optimizer.init(eqx.filter(model, eqx.is_array))
        model, state = step(model, state)
    return model


def with_counter(x, scales):
    @jax.jit
    def scaled(x):
        return x * scale  # finding

    for scale in scales:
        x = scaled(x)
    return x

