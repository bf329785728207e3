# a state that the caller of a helper rebinds

import time

import jax
import jax.numpy as jnp
import optax

optimizer = optax.adam(1e-3)

def loss(params, batch):
    return jnp.mean((batch @ params) ** 2)

@jax.jit  # finding
def epoch(params, opt_state, batches):
    def one(carry, batch):
        params, opt_state = carry
        grads = jax.grad(loss)(params, batch)
        updates, opt_state = optimizer.update(grads, opt_state)
        return (optax.apply_updates(params, updates), opt_state), None

    (params, opt_state), _ = jax.lax.scan(one, (params, opt_state), batches)
    return params, opt_state

def timed(params, opt_state, batches):
    started = time.perf_counter()
    result = epoch(params, opt_state, batches)
    params, opt_state = jax.block_until_ready(result)
    return params, opt_state, time.perf_counter() - started

def train_by_epochs(loader):
    params = jnp.ones(3)
    opt_state = optimizer.init(params)
    for batches in loader:
        params, opt_state, seconds = timed(params, opt_state, batches)
        print(seconds)
    return params
