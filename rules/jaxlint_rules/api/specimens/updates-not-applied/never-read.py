# never read

import jax
import optax

optimizer = optax.adam(1e-3)

@jax.jit
def step(params, opt_state, grads):
    updates, opt_state = optimizer.update(grads, opt_state)  # finding
    return params, opt_state
