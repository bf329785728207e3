# a carry that keeps its type, and numbers that widen

import jax
import jax.numpy as jnp
from jax import lax

def run(xs, state, n):
    a = lax.scan(lambda c, x: (c * 0.5, x), 0, xs)
    b = lax.fori_loop(0, n, lambda i, c: c + jnp.ones(3), jnp.zeros(3))
    c = lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] * 2), (0, 1.0))
    d = lax.scan(lambda c, x: ({"total": c["total"] + x}, x), {"total": 0.0}, xs)
    e = lax.scan(lambda c, x: (c, None), None, xs)
    f = lax.scan(lambda c, x: [c + 1, x], jnp.int32(0), xs)
    g = lax.fori_loop(0, n, lambda i, c: c.at[i].set(1.5), jnp.zeros(3, dtype=jnp.bfloat16))
    return a, b, c, d, e, f, g, lax.scan(lambda c, x: (c + x, x), state, xs)
