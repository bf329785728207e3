# numbers out of tracers

import jax
import jax.numpy as jnp

@jax.jit
def f(x):
    n = int(jnp.ceil(x))
    y = x.sum()
    z = jnp.sqrt(x)
    text = f"{x:.2f}"
    return jnp.asarray(x[0], dtype=float), n, y, z, text
