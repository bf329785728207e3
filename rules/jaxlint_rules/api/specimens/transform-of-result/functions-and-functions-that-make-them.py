# functions, and functions that make them

import jax
import jax.numpy as jnp

def make(scale):
    def f(x):
        return jnp.sum(scale * x)
    return f

x = jnp.ones(3)
y = jax.jit(make(2.0))(x)
h = jax.grad(jax.grad(lambda v: v**3))(1.0)
v = jax.vmap(jax.grad(make(1.0)))(x[None])
