# a branch for lists, of which nothing is known
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from somewhere import load

def loader():
    arrays = load()

    def batch(i):
        chosen = lax.dynamic_slice_in_dim(jnp.arange(100), i * 8, 8)
        return [np.take(a, chosen) if isinstance(a, list) else a[chosen] for a in arrays]

    return batch

def run():
    batch = loader()
    return lax.fori_loop(0, 10, lambda i, total: total + batch(i)[0].sum(), 0.0)
