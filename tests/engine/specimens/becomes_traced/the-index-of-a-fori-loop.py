# the index of a fori_loop
import jax.numpy as jnp
from jax import lax

rates = [0.1, 0.2, 0.3]

def body(i, x):
    return x * rates[i]  # finding: tracer-index

lax.fori_loop(0, 3, body, jnp.ones(()))
