# NaN that is taken away afterwards

import jax
import jax.numpy as jnp

def ratio(x, n):
    return jnp.nan_to_num(x / n).sum()  # finding

def entropy(p):
    terms = p * jnp.log(p)
    return -jnp.where(jnp.isnan(terms), 0.0, terms).sum()  # finding

def finite(p):
    y = jnp.sqrt(p)
    return jnp.where(jnp.isfinite(y), y, 0.0).sum()  # finding

def loss(w, n):
    return ratio(w, n) + entropy(w) + finite(w)

def data(w, x, n):
    return jnp.sum(w * jnp.nan_to_num(x / n)) + jnp.nan_to_num(w / 2.0).sum() + jnp.nan_to_num(w).sum()

def step(w, x, n):
    return w - 0.1 * jax.grad(loss)(w, n) - 0.1 * jax.grad(data)(w, x, n)

def metric(x, n):
    return jnp.nan_to_num(x / n).mean()

x = jnp.arange(3.0)
print(step(x, x, x), metric(x, x))
