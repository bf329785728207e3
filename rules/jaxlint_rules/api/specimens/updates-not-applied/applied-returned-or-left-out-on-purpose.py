# applied, returned, or left out on purpose

import jax
import optax

optimizer = optax.adam(1e-3)

def step(params, opt_state, grads):
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state

def raw(opt_state, grads):
    updates, opt_state = optimizer.update(grads, opt_state)
    return updates, opt_state

def warm(opt_state, grads):
    _, opt_state = optimizer.update(grads, opt_state)
    return opt_state
