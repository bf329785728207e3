# a training loop that rebinds its state

import jax
import jax.numpy as jnp
import optax

optimizer = optax.adam(1e-3)

@jax.jit  # finding
def step(params, opt_state, batch):
    loss, grads = jax.value_and_grad(lambda p: jnp.mean((batch @ p) ** 2))(params)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss

def train(params, opt_state, batches):
    for batch in batches:
        params, opt_state, loss = step(params, opt_state, batch)
    return params
