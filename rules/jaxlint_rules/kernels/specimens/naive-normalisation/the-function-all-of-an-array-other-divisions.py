# the function, all of an array, other divisions

import jax
import jax.numpy as jnp

def norm(x):
    return jax.nn.standardize(x, axis=-1, epsilon=1e-6)

def whole(x):
    x = jnp.asarray(x)
    return (x - x.mean()) / (x.std() + 1e-8)

def rms(x):
    x = jnp.asarray(x)
    return x / jnp.sqrt(jnp.mean(x**2, -1, keepdims=True) + 1e-6)
