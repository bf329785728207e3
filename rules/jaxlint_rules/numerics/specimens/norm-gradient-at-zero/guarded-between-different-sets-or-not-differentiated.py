# guarded, between different sets, or not differentiated

import jax
import jax.numpy as jnp

def guarded(x):
    delta = x[:, None, :] - x[None, :, :]
    d2 = jnp.sum(delta**2, axis=-1)
    return jnp.sqrt(jnp.where(d2 > 0, d2, 1.0)).sum() + jnp.sqrt(d2 + 1e-12).sum()

def between(x, y):
    return jnp.linalg.norm(x[:, None] - y[None], axis=-1).sum() + jnp.linalg.norm(x, axis=-1).sum()

def loss(x, y):
    return guarded(x) + between(x, y)

forces = jax.grad(loss)

def neighbours(x):
    return jnp.linalg.norm(x[:, None] - x[None], axis=-1) < 0.5
