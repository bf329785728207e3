# logarithms, and a log

import jax
import jax.numpy as jnp
import numpy as np
import wandb

def entropy(x):
    return np.float32(np.log(2 * np.pi) + np.log(x).mean())

def told(x):
    wandb.log({"x": x})
    return x

@jax.jit
def step(x):
    one = jax.pure_callback(entropy, jax.ShapeDtypeStruct((), jnp.float32), x)
    return one + jax.pure_callback(told, jax.ShapeDtypeStruct(x.shape, x.dtype), x)  # finding
