# arrays, functions that join, Python's own

import jax.numpy as jnp
import numpy as np

def total(xs):
    losses = [jnp.sin(x).mean() for x in xs]
    return jnp.mean(jnp.stack(losses)), jnp.concatenate([xs[0], xs[1]]), sum(losses), np.mean([1.0, 2.0])
