# static and donated at once

import jax

def update(state, batch, config):
    return state

step = jax.jit(update, static_argnums=(2,), donate_argnums=(0, 2))  # finding
other = jax.jit(update, static_argnames="state", donate_argnames=("state",))  # finding
