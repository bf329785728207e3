# a clamp short of the edge, or no gradient

import jax
import jax.numpy as jnp

def distance(a, b):
    return jnp.sqrt(jnp.maximum(jnp.sum(jnp.square(a - b), axis=-1), 1e-12))

def angle(a, b):
    return jnp.arccos(jnp.clip(jnp.dot(a, b), -0.999, 0.999)) + jnp.log(jax.nn.relu(a[0]) + 1e-6)

def loss(a, b):
    return jnp.sum(distance(a, b)) + angle(a, b)

grad = jax.grad(loss)

def metric(x):
    x = jnp.asarray(x)
    return jnp.sqrt(jnp.maximum(x, 0.0)), jnp.arccos(jnp.clip(x, -1.0, 1.0))
