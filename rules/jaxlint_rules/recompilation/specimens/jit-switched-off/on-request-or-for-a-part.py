# switched off on request, or for a part of the program

import sys

import jax
import jax.numpy as jnp

if "--debug" in sys.argv:
    jax.config.update("jax_disable_jit", True)
jax.config.update("jax_disable_jit", False)
jax.config.update("jax_debug_nans", True)

def look_inside(step, w):
    jax.config.update("jax_disable_jit", True)
    return step(w)

@jax.jit
def train_step(w, batch):
    return w - 0.1 * jax.grad(lambda v: jnp.mean((batch @ v) ** 2))(w)

def train(w, batches):
    with jax.disable_jit():
        train_step(w, batches[0])
    for batch in batches:
        w = train_step(w, batch)
    return w
