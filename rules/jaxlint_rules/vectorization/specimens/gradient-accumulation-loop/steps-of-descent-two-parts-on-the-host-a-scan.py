# steps of descent, two parts, on the host, a scan

import jax
import jax.numpy as jnp

def loss_fn(params, x):
    return jnp.mean(jnp.tanh(x @ params) ** 2)

@jax.jit
def adapt(params, x):
    for _ in range(5):
        params = params - 0.1 * jax.grad(loss_fn)(params, x)
    return params

@jax.jit
def losses_of_steps(params, x):
    total = 0.0
    for _ in range(8):
        loss, grads = jax.value_and_grad(loss_fn)(params, x)
        params = params - 0.1 * grads
        total += loss
    return params, total / 8

@jax.jit
def two(params, a, b):
    grads = jnp.zeros_like(params)
    for x in (a, b):
        grads = grads + jax.grad(loss_fn)(params, x)
    return grads

gradient = jax.jit(jax.grad(loss_fn))

def host(params, parts):
    grads = jnp.zeros_like(params)
    for part in parts:
        grads = grads + gradient(params, part)
    return grads

@jax.jit
def scanned(params, parts):
    body = lambda grads, part: (grads + jax.grad(loss_fn)(params, part), None)
    return jax.lax.scan(body, jnp.zeros_like(params), parts)[0]
