# conditions, predicates, bounds and values

import jax
import jax.numpy as jnp
from jax import lax

@jax.jit
def run(x, ok):
    a = lax.while_loop(lambda v: v > 0, lambda v: v - 1, jnp.ones(3))  # finding
    b = lax.while_loop(lambda v: (v > 0,), lambda v: v - 1, 3)  # finding
    c = lax.while_loop(lambda v: jnp.sum(v), lambda v: v - 1, jnp.ones(3))  # finding
    d = lax.cond(jnp.ones(2) > 0, lambda: 1.0, lambda: 2.0)  # finding
    e = lax.cond(ok, x + 1, x - 1)  # finding
    f = lax.fori_loop(0, 7 / 2, lambda i, v: v, x)  # finding
    g = lax.scan(lambda c, _: (c, None), x)  # finding
    h = lax.switch(0, jnp.sin(x), x)  # finding
    return a, b, c, d, e, f, g, h
