# a function of the module, wrapped again

import jax

def update(p, b):
    return p - b

def train(params, batches):
    jitted = jax.jit(update)
    for batch in batches:
        params = jitted(params, batch)  # finding
    return params
