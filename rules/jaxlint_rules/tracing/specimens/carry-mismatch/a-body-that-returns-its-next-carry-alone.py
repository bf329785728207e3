# a body that returns its next carry alone, which is taken for the carry and an output

import jax
import jax.numpy as jnp
import optax

tx = optax.adam(1e-2)

def update(params, state, x):
    gradient = jax.grad(lambda p: jnp.sum(p * x))(params)
    updates, state = tx.update(gradient, state)
    return optax.apply_updates(params, updates), state

def alone(carry, x):
    return update(*carry, x)

def paired(carry, x):
    return update(*carry, x), None

def fit(params, xs):
    return jax.lax.scan(alone, (params, tx.init(params)), xs)  # finding

def fitted(params, xs):
    return jax.lax.scan(paired, (params, tx.init(params)), xs)

def plain(params, xs):
    return jax.lax.scan(lambda p, x: (optax.apply_updates(p, x), x), params, xs)
