# jit around the gradient, gradients inside of a step, once

import jax
import jax.numpy as jnp

@jax.jit
def loss(w, x):
    return jnp.mean((x @ w) ** 2)

grad_fn = jax.jit(jax.grad(loss))

@jax.jit
def step(w, x):
    return w - 0.1 * jax.grad(loss)(w, x)

def train(w, xs):
    for x in xs:
        w = w - 0.1 * grad_fn(w, x)
        w = step(w, x)
    return w, jax.grad(loss)(w, xs[0])
