# a state that a later line rebinds

import jax
import jax.numpy as jnp
import optax

optimizer = optax.adam(1e-3)

def loss(params, batch):
    return jnp.mean((batch @ params) ** 2)

@jax.jit  # finding
def step(params, opt_state, batch):
    value, grads = jax.value_and_grad(loss)(params, batch)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, value

def train(batches):
    params = jnp.ones(3)
    opt_state = optimizer.init(params)
    for batch in batches:
        new_params, new_opt_state, value = step(params, opt_state, batch)
        params, opt_state = new_params, new_opt_state
    return params

@jax.jit
def tried(params, opt_state, batch):
    grads = jax.grad(loss)(params, batch)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state

def only_better(batches, held_out):
    params = jnp.ones(3)
    opt_state = optimizer.init(params)
    for batch in batches:
        new_params, new_opt_state = tried(params, opt_state, batch)
        if loss(new_params, held_out) < loss(params, held_out):
            params, opt_state = new_params, new_opt_state
    return params
