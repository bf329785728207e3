# a global that a jitted function rebinds
import jax
import jax.numpy as jnp

total = 0.0

@jax.jit
def step(x):
    global total
    total = total + x.sum()  # finding: tracer-leak
    return x

step(jnp.ones(3))
