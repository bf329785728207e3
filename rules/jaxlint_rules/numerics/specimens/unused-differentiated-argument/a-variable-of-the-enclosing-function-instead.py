# a variable of the enclosing function instead

import jax
import jax.numpy as jnp

def step(params, x, y):
    def loss(p):
        return jnp.mean((x @ params - y) ** 2)
    value, grads = jax.value_and_grad(loss)(params)  # finding
    return value, grads

def second(w, b, x):
    return jax.grad(lambda w, b: jnp.sum(x @ w), argnums=(0, 1))(w, b)  # finding
