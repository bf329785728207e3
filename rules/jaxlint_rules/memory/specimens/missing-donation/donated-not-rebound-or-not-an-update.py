# donated, not rebound, or not an update

from functools import partial
import jax
import jax.numpy as jnp

@partial(jax.jit, donate_argnums=0)
def step(params, batch):
    return jax.tree.map(lambda p, g: p - g, params, jax.grad(lambda p: jnp.mean(batch @ p))(params))

@jax.jit
def evaluate(params, batch):
    return jnp.mean(batch @ params)

@jax.jit
def moved(x, offset):
    return x + offset

def train(params, batches):
    total = 0.0
    for batch in batches:
        params = step(params, batch)
        total = total + evaluate(params, batch)
        other = moved(batch, 1.0)
    return params, total, other
