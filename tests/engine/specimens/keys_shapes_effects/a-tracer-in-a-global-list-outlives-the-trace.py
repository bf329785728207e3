# a tracer in a global list outlives the trace
import jax
import jax.numpy as jnp

history = []

@jax.jit
def step(x):
    history.append(x * 2)  # finding: tracer-leak
    return x

step(jnp.ones(3))
