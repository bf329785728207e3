# computed by all, printed by one; arrays of one process

import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def step(w, x):
    return w - 0.1 * jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w)

@jax.jit
def summary(x):
    return jnp.mean(x)

def main(w, batches):
    jax.distributed.initialize()
    for batch in batches:
        w = step(w, batch)
        norm = summary(w)
        if jax.process_index() == 0:
            print(norm, summary(np.ones(3)))
    if jax.process_index() != 0:
        return None
    else:
        return norm
