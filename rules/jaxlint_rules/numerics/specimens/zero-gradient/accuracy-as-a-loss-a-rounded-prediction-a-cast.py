# accuracy as a loss, a rounded prediction, a cast

import jax
import jax.numpy as jnp

def error_rate(w, x, y):
    predicted = jnp.argmax(x @ w, axis=-1)  # finding
    return jnp.mean((predicted != y).astype(jnp.float32))

def rounded(w, x, y):
    return jnp.mean((jnp.round(x @ w) - y) ** 2)  # finding

def hinge(w, x):
    return jnp.sum(jnp.sign(jnp.dot(x, w)))  # finding

@jax.jit
def step(w, x, y):
    g = jax.grad(error_rate)(w, x, y)
    value, h = jax.value_and_grad(rounded)(w, x, y)
    return w - g - h - jax.grad(hinge)(w, x)
