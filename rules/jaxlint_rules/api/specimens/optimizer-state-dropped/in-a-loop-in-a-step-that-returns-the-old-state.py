# in a loop, in a step that returns the old state

import jax
import optax

optimizer = optax.adam(1e-3)

def train(params, batches, grad):
    opt_state = optimizer.init(params)
    for batch in batches:
        updates, _ = optimizer.update(grad(params, batch), opt_state)  # finding
        params = optax.apply_updates(params, updates)
    return params

@jax.jit
def step(params, opt_state, grads):
    updates, new_state = optimizer.update(grads, opt_state, params)  # finding
    return optax.apply_updates(params, updates), opt_state
