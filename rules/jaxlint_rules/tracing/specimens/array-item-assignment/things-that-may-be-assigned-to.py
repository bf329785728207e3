# things that may be assigned to

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl

def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...] * 2

@jax.jit
def count(counter):
    counter[...] = counter[...] + 1

def f(x, batch):
    count(jax.new_ref(jnp.zeros(())))
    host = np.zeros(3)
    host[0] = 1.0
    parts = [jnp.zeros(2), jnp.ones(2)]
    parts[0] = x
    batch["x"] = x
    copy = np.array(jnp.ones(3))
    copy[0] = 2.0
    rows = (np.zeros if isinstance(batch, np.ndarray) else jnp.zeros)(3) * x
    if isinstance(batch, np.ndarray):
        rows[0] = 1.0
    else:
        rows = rows.at[0].set(1.0)
    out = pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((3,), jnp.float32))(x)
    return host, parts, batch, copy, out
