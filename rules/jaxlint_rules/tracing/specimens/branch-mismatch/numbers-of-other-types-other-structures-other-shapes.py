# numbers of other types, other structures, other shapes

import jax
import jax.numpy as jnp
from jax import lax

@jax.jit
def f(ok, x, index):
    a = lax.cond(ok, lambda: 1.0, lambda: 0)  # finding
    b = lax.cond(ok, lambda v: (v, v), lambda v: (v, v, v), x)  # finding
    c = lax.cond(ok, lambda: {"loss": 0.0}, lambda: {"loss": 0.0, "aux": 1.0})  # finding
    d = lax.cond(ok, lambda: jnp.zeros(3), lambda: 0.0)  # finding
    e = lax.switch(index, [lambda v: jnp.sin(v), lambda v: None], x)  # finding
    g = lax.cond(ok, lambda v: jnp.sum(v).astype(jnp.float32), lambda v: jnp.argmax(v), x)  # finding
    return a, b, c, d, e, g
