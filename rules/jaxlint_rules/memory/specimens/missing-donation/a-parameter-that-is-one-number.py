# a parameter that is one number

import jax
import jax.numpy as jnp

def loss(scale, x):
    return jnp.mean((scale * x - 1.0) ** 2)

@jax.jit
def step(scale, x):
    return scale - 0.1 * jax.grad(loss)(scale, x)

@jax.jit  # finding
def step_of_many(scales, x):
    return scales - 0.1 * jax.grad(loss)(scales, x)

def fit(x):
    scale, scales = jnp.array(0.3), jnp.ones_like(x)
    for _ in range(10):
        scale = step(scale, x)
        scales = step_of_many(scales, x)
    return scale, scales
