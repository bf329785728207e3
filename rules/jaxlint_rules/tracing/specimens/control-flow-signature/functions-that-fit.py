# functions that fit

from functools import partial
import jax
import jax.numpy as jnp
from jax import lax

class Model:
    def body(self, carry, x):
        return carry + x, None

    def going(self, state):
        return jnp.any(state > 0) & True

    def run(self, xs, ok, i, n):
        a = lax.scan(self.body, 0.0, xs)
        b = lax.while_loop(self.going, lambda *s: s[0] - 1, jnp.ones(3))
        c = lax.fori_loop(0, n, lambda i, v, k=2: v * k, 1.0)
        d = lax.cond(ok, lambda x, y: x, lambda *xs: xs[1], xs, xs)
        e = lax.switch(i, (jnp.sin, jnp.cos), xs)
        f = lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1]), (0, xs))
        g = lax.while_loop(lambda s: not_done(s), lambda s: s + 1, 0)
        h = lax.scan(lambda c, _: (c, None), 0.0, length=3)
        k = lax.cond(xs.sum() > 0, jax.jit(double), double, xs)
        m = lax.cond(ok, (xs, i), lambda pair: pair[0], xs, double)
        o = lax.switch(index=i, branches=(lambda x: x, lambda x: x + 1), operand=xs)
        return a, b, c, d, e, f, g, h, k, m, o

def not_done(s):
    return ~(s > 3)

def double(x):
    return x * 2
