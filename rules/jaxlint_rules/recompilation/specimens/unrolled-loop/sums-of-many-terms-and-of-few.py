# sums of many terms, and of few

import jax
import jax.numpy as jnp

TERMS = 500

@jax.jit
def series(x, c):
    return sum(c[k] * jnp.cos(k * x) for k in range(TERMS))  # finding

@jax.jit
def few(x, c):
    return sum(c[k] * jnp.cos(k * x) for k in range(4)) + sum(c[k] for k in range(TERMS))

@jax.jit
def by_name(x, w):
    return sum(jnp.tanh(x @ w[f"expert_{k}"]) for k in range(32)) + sum(w.layers[k](x).sum() for k in range(32))

def host(x, c):
    return sum(float(jnp.cos(c[k] * x)) for k in range(TERMS))
