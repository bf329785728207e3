# transformed, and called again

import jax
import jax.numpy as jnp

def f(x):
    return jnp.sum(jnp.sin(x))

x = jnp.ones(3)
y = jax.jit(f(x))  # finding
g = jax.grad(f)(x)(x)  # finding
