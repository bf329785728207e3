# a key that is made of a loop index

import jax
import jax.numpy as jnp
from jax import lax

@jax.jit
def f(params, x):
    def body(i, h):
        return h @ params[f"layer_{i}"]  # finding
    h = lax.fori_loop(0, len(params), body, x)
    for i in range(2):
        h = h @ params[f"layer_{i}"] + params[f"bias_{x.ndim}"]
    return h, {f"{x.shape}": x}
