# a step with `block_until_ready` inside of jit, where it waits for nothing

import jax
import jax.numpy as jnp

@jax.jit
def train_step(w, batch):
    loss = jnp.mean((batch @ w) ** 2)
    loss = jax.block_until_ready(loss)
    return w - 0.1 * jax.grad(lambda v: jnp.mean((batch @ v) ** 2))(w), loss

def train(w, train_loader, bar):
    for batch in train_loader:
        w, loss = train_step(w, batch)
        bar.set_description(f"loss: {loss:.3f}")  # finding
    return w
