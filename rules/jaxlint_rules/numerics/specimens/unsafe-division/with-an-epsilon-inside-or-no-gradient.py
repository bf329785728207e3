# with an epsilon inside, or no gradient

import jax
import jax.numpy as jnp

def unit(x):
    return x * jax.lax.rsqrt(jnp.sum(x**2, axis=-1, keepdims=True) + 1e-12)

def distance(a, b):
    return jnp.sqrt(jnp.maximum(jnp.sum(jnp.square(a - b), axis=-1), 1e-12))
def loss(a, b):
    return jnp.sum(distance(unit(a), b))

grad = jax.grad(loss)

def metric(x):
    x = jnp.asarray(x)
    return x / jnp.linalg.norm(x)
