# with a precision, and products that do not cancel

import jax.numpy as jnp

def distances(x, y):
    x2, y2 = jnp.sum(x**2, axis=-1), jnp.sum(y**2, axis=-1)
    return x2[:, None] + y2 - 2 * jnp.matmul(x, y.T, precision="highest")

def layer(x, w, b):
    return jnp.dot(x, w) + b - 2 * jnp.dot(x, w)
