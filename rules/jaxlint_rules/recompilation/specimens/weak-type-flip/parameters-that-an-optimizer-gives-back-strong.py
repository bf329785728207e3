# parameters that begin weakly typed, and that `optax.apply_updates` gives back strong

import jax
import jax.numpy as jnp
import optax

optimizer = optax.adam(1e-2)

def loss(params):
    return jnp.sum((params["rate"] - 3.0) ** 2)

@jax.jit
def step(params, state):
    value, gradient = jax.value_and_grad(loss)(params)
    updates, state = optimizer.update(gradient, state, params)
    return optax.apply_updates(params, updates), state, value

def calibrate(both):
    params = {"rate": jnp.asarray(1.0)} | ({"scale": jnp.asarray(1.0)} if both else {})
    state = optimizer.init(params)
    for _ in range(100):
        params, state, value = step(params, state)  # finding
    return params

@jax.jit
def move(rate, state):
    updates, state = optimizer.update(jax.grad(lambda r: (r - 3.0) ** 2)(rate), state, rate)
    return optax.apply_updates(rate, updates), state

def fit():
    rate = jnp.array(2.0)
    state = optimizer.init(rate)
    for _ in range(100):
        rate, state = move(rate, state)  # finding
    return rate

def fit_strong():
    rate = jnp.array(2.0, dtype=jnp.float32)
    state = optimizer.init(rate)
    for _ in range(100):
        rate, state = move(rate, state)
    return rate

def calibrate_strong(weights):
    params = {"rate": jnp.ones(()), "weights": weights, "bias": jnp.zeros(3)}
    state = optimizer.init(params)
    for _ in range(100):
        params, state, value = step(params, state)
    return params
