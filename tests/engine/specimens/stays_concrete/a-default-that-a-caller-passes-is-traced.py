# a default that a caller passes is traced
import jax
import jax.numpy as jnp

@jax.jit
def smooth(p, keep=True):
    if keep:  # finding: tracer-branch
        p = p * 2
    return p

smooth(jnp.ones(3), keep=False)
