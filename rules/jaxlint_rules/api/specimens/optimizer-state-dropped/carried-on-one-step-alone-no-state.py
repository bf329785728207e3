# carried on, one step alone, no state

import jax
import optax

optimizer = optax.adam(1e-3)

def train(params, batches, grad):
    opt_state = optimizer.init(params)
    for batch in batches:
        updates, opt_state = optimizer.update(grad(params, batch), opt_state)
        params = optax.apply_updates(params, updates)
    return params

def once(params, grads):
    updates, _ = optimizer.update(grads, optimizer.init(params))
    return optax.apply_updates(params, updates)

def descend(params, batches, grad):
    plain = optax.sgd(0.1)
    state = plain.init(params)
    for batch in batches:
        updates, _ = plain.update(grad(params, batch), state)
        params = optax.apply_updates(params, updates)
    return params
