# a carry that grows or shrinks

import jax
import jax.numpy as jnp
from jax import lax

def run(history, xs, n):
    def keep(history, x):
        history = jnp.concatenate([history, x[None]])
        return history, history.sum()

    def slide(history, x):
        return jnp.concatenate([history[1:], x[None]]), None

    a = lax.scan(keep, jnp.zeros(0), xs)  # finding
    b = lax.scan(lambda c, x: (jnp.append(c, x), None), history, xs)  # finding
    c = lax.fori_loop(0, n, lambda i, c: c[1:], jnp.ones(4))  # finding
    d = lax.fori_loop(0, n, lambda i, s: (s[0] + 1, jnp.vstack([s[1], s[1]])), (0, history))  # finding
    e = lax.scan(lambda c, x: ((c, x), None), history, xs)  # finding
    f = lax.scan(slide, history, xs)
    g = lax.fori_loop(0, n, lambda i, c: c[::-1], jnp.ones(4))
    return a, b, c, d, e, f, g
