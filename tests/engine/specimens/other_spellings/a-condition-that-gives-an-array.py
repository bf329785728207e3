# a condition that gives an array
import jax.numpy as jnp
from jax import lax

def run(x):
    x = lax.while_loop(lambda v: jnp.any(v > 0), lambda v: v - 1, jnp.ones(3))
    return lax.while_loop(lambda v: v > 0, lambda v: v - 1, jnp.ones(3))  # finding: control-flow-signature

run(1.0)
