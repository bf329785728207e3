# logarithm, root, division, power, through variables and calls

import jax
import jax.numpy as jnp

def entropy(p):
    return -jnp.sum(jnp.where(p > 0, p * jnp.log(p), 0.0))  # finding

def distance(d2):
    root = jnp.sqrt(d2)
    return jnp.where(d2 == 0, 0.0, root).sum()  # finding

def ratio(x, y):
    return jnp.where(jnp.abs(y) > 1e-6, x / y, 0.0).sum()  # finding

def sinc(x):
    near = x == 0.0
    return jnp.where(near, 1.0, jnp.sin(x) / x).sum()  # finding

def gamma(x):
    return jax.lax.select(x > 0.0, x**0.5, jnp.zeros_like(x)).sum()  # finding

def softplus(x):
    return jnp.where(x > 20.0, x, jnp.log1p(jnp.exp(x))).sum()  # finding

def angle(c):
    return jnp.where(jnp.abs(c) < 1.0, jnp.arccos(c), 0.0).sum()  # finding

TOLERANCE = float(input())

def far(r):
    return jnp.where(r > TOLERANCE, 1 / r, 0.0).sum()  # finding

def loss(w, x):
    return far(w) + entropy(w) + distance(x @ w) + ratio(w, x) + sinc(w) + gamma(w) + softplus(w) + angle(w)

@jax.jit
def step(w, x):
    return w - 0.1 * jax.grad(loss)(w, x)
