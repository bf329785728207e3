# text by its type, and a keyword that a function does not take
from functools import partial

import jax
import jax.numpy as jnp

NAMES = {"bf16", "bfloat16"}

def dtype_of(dtype):
    if isinstance(dtype, str):
        if dtype.lower() in NAMES:
            return jnp.bfloat16
    return dtype

def planes(actions, rows, classes):
    return jnp.tile(jax.nn.one_hot(actions, classes), (rows, 1))

@jax.jit
def run(x):
    return x.astype(dtype_of(jnp.bfloat16))

def encode(spec, actions):
    return jax.vmap(partial(planes, rows=spec.rows, actions_of=spec.actions))(actions)
