# arguments that reach the edge by themselves

import jax
import jax.numpy as jnp

def angle(u, v):
    return jnp.arccos(jnp.dot(u, v) / (jnp.linalg.norm(u) * jnp.linalg.norm(v)))  # finding

def distance(u, v):
    gap = jnp.sum((u - v) ** 2)
    return jnp.arccosh(1.0 + 2.0 * gap)  # finding

def safe(u, v):
    y, x = jnp.linalg.norm(jnp.cross(u, v)), jnp.dot(u, v)
    return jnp.arctan2(y, x) + jnp.arccosh(1.0 + 1e-6 + jnp.sum((u - v) ** 2)) + jnp.arcsin(0.5 * jnp.dot(u, v) / 3.0) + jnp.arccosh(1.0 + jnp.exp(u[0]))

def loss(u, v):
    return angle(u, v) + distance(u, v) + safe(u, v)

jax.grad(loss)(jnp.ones(3), jnp.ones(3))
print(angle(jnp.ones(3), jnp.ones(3)))
