# read after the call, in the next iteration, or passed twice

from functools import partial
import jax
import jax.numpy as jnp

@partial(jax.jit, donate_argnums=0)
def step(params, batch):
    return jax.tree.map(lambda p: p - 0.1 * batch.mean(), params)

def once(params, batch):
    new = step(params, batch)
    return jax.tree.map(jnp.subtract, new, params)  # finding

def forgot_to_rebind(params, batches):
    for batch in batches:
        new = step(params, batch)  # finding
    return new

def best_so_far(params, batches):
    best, lowest = params, jnp.inf
    for batch in batches:
        params = step(params, batch)
        if batch.mean() < lowest:
            best, lowest = params, batch.mean()
    return best  # finding

add = jax.jit(lambda a, b: a + b, donate_argnums=0)

def doubled(x):
    return add(x, x)  # finding
