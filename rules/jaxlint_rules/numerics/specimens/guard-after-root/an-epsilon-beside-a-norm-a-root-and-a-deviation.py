# an epsilon beside a norm, a root and a deviation

import jax
import jax.numpy as jnp

def unit(x):
    return x / (jnp.linalg.norm(x, axis=-1, keepdims=True) + 1e-8)  # finding

def floored(x, eps=1e-6):
    return x / jnp.maximum(jnp.sqrt(jnp.sum(x**2)), eps)  # finding

def scaled(x):
    return (x - x.mean()) / (x.std() + 1e-6)  # finding

def loss(w, x):
    h = jnp.maximum(x @ w, 0.0)
    return unit(h).sum() + floored(h).sum() + scaled(h).sum()

@jax.jit
def step(w, x):
    return w - 0.1 * jax.grad(loss)(w, x)
