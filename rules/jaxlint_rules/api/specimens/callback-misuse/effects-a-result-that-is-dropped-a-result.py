# effects, a result that is dropped, a result that is no struct

import jax
import jax.numpy as jnp
import numpy as np

history = []

def record(x):
    history.append(float(x))
    return x

@jax.jit
def step(x):
    y = jax.pure_callback(record, jax.ShapeDtypeStruct(x.shape, x.dtype), x)  # finding
    jax.pure_callback(np.sin, jax.ShapeDtypeStruct(x.shape, x.dtype), x)  # finding
    return y + jax.pure_callback(np.cos, jnp.float32, x)  # finding
