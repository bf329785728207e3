# other dtypes, shapes and structures

import jax
import jax.numpy as jnp
from jax import lax

def body(carry, x):
    return carry + 1

def run(xs, n):
    a = lax.scan(lambda c, x: (c * 0.5, x), jnp.int32(3), xs)  # finding
    b = lax.fori_loop(0, n, lambda i, c: jnp.ones(3) + c, 0.0)  # finding
    c = lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1,), (0, 1.0))  # finding
    d = lax.scan(body, jnp.zeros(()), xs)  # finding
    e = lax.fori_loop(0, n, lambda i, s: {"x": s["x"], "i": i}, {"x": 0.0})  # finding
    f = lax.scan(lambda c, x: (c.astype(jnp.bfloat16), None), jnp.zeros(4), xs)  # finding
    g = lax.scan(lambda c, x: (x, x, x), 0.0, xs)  # finding
    return a, b, c, d, e, f, g
