# the same types, and types that are not known

import jax
import jax.numpy as jnp
from jax import lax

@jax.jit
def f(ok, x, y):
    a = lax.cond(ok, lambda: 1.0, lambda: jnp.float32(0))
    b = lax.cond(ok, lambda v: v, lambda v: jnp.zeros_like(v), x)
    c = lax.cond(ok, lambda: (x, {"a": 1.0}), lambda: (y, {"a": 2.0}))
    d = lax.cond(ok, lambda: jnp.zeros((2, 3)), lambda: jnp.ones((3,)) * jnp.ones((2, 1)))
    e = lax.cond(ok, lambda: jnp.sum(x), lambda: 0.0)
    g = lax.cond(ok, lambda: None, lambda: None)
    return a, b, c, d, e, g
