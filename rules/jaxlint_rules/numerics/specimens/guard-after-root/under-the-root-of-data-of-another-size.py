# under the root, of data, of another size, not differentiated

import jax
import jax.numpy as jnp

def unit(x):
    return x / jnp.sqrt(jnp.sum(x**2, axis=-1, keepdims=True) + 1e-12)

def standardised(x):
    return (x - x.mean()) / (x.std() + 1e-6)

def loss(w, x, advantages):
    h = standardised(x) @ w
    weights = standardised(advantages)
    detached = jax.lax.stop_gradient(h)
    h = h / (jnp.linalg.norm(detached) + 1e-8)
    return unit(h).sum() + jnp.sum(weights * h[:, 0]) + (1.0 + jnp.linalg.norm(h)) + jnp.sqrt(jnp.exp(h)).sum() + 1e-8

grad = jax.grad(loss)

def active(w, x):
    h = jax.nn.relu(x @ w)
    return jnp.sum(h / (jnp.linalg.norm(h) + 1e-8))

jax.grad(active)(jnp.ones((3, 2)), jnp.ones((4, 3)))

def clipped(g):
    return g / (jnp.linalg.norm(g) + 1e-8)

def step(w, x, a):
    return w - 0.1 * clipped(grad(w, x, a))
