# loops that a gradient does not go through

import jax
import jax.numpy as jnp
from jax import lax

def count(x):
    return lax.while_loop(lambda n: n < 10, lambda n: n + 1, jnp.argmax(x))

def settle(x):
    return lax.while_loop(lambda c: c < 10.0, lambda c: c * 2.0, x)

@jax.custom_vjp
def root(x):
    return settle(x)

root.defvjp(lambda x: (root(x), x), lambda x, g: (g / x,))

def loss(x, scale):
    fixed = lax.fori_loop(0, 3, lambda i, c: c * 0.5, x)
    return fixed + count(x) + lax.stop_gradient(settle(x)) + settle(scale) + root(x)

def with_aux(x):
    return x * x, settle(x)

def main(x):
    a = jax.grad(loss)(x, 2.0)
    b = jax.grad(with_aux, has_aux=True)(x)
    c = jax.jacfwd(settle)(x), jax.jvp(settle, (x,), (x,))
    return a, b, c, settle(x)
