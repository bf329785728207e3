# a Python counter is no tracer
import jax
import jax.numpy as jnp

calls = []
traces = 0

@jax.jit
def step(x):
    global traces
    traces += 1
    calls.append(x.shape)
    return x

step(jnp.ones(3))
