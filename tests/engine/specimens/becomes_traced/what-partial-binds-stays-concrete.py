# what partial binds stays concrete
from functools import partial

import jax
import jax.numpy as jnp

def run(x, n_heads, causal):
    if causal and n_heads > 2:
        x = x.reshape(n_heads, -1)
    return x

f = jax.jit(partial(run, n_heads=8, causal=True))
f(jnp.ones(16))
