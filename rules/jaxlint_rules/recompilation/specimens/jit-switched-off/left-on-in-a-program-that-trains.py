# left on in a program that trains

import jax
import jax.numpy as jnp

jax.config.update("jax_disable_jit", True)  # finding

@jax.jit
def train_step(w, batch):
    return w - 0.1 * jax.grad(lambda v: jnp.mean((batch @ v) ** 2))(w)

def train(w, batches):
    for batch in batches:
        w = train_step(w, batch)
    return w
