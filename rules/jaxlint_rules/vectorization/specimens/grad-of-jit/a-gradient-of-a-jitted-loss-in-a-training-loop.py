# a gradient of a jitted loss in a training loop

import jax
import jax.numpy as jnp

@jax.jit
def loss(w, x):
    return jnp.mean((x @ w) ** 2)

grad_fn = jax.grad(loss)

def train(w, xs):
    for x in xs:
        w = w - 0.1 * grad_fn(w, x)  # finding
    return w

def fit(w, x, steps):
    for _ in range(steps):
        value, grads = jax.value_and_grad(loss)(w, x)  # finding
        w = jax.tree.map(lambda p, g: p - 0.1 * g, w, grads)
    return w

def newton(w, x, steps):
    for _ in range(steps):
        w = w - jnp.linalg.solve(jax.hessian(loss)(w, x), w)  # finding
    return w
