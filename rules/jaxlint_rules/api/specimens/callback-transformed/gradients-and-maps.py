# gradients and maps

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback

def host(x):
    return np.sin(x)

def special(x):
    return jax.pure_callback(host, jax.ShapeDtypeStruct(x.shape, x.dtype), x)  # finding

def loss(w, x):
    return jnp.sum(special(w * x))

@jax.jit
def update(w, x):
    return w - jax.grad(loss)(w, x)

@jax.vmap
def row(x):
    io_callback(print, None, x, ordered=True)  # finding
    return jax.pure_callback(host, jax.ShapeDtypeStruct((), x.dtype), x)  # finding
