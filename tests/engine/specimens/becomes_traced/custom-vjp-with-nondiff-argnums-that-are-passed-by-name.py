# custom_vjp with nondiff_argnums that are passed by name
from functools import partial

import jax
import jax.numpy as jnp

@partial(jax.custom_vjp, nondiff_argnums=(1, 2))
def scale(x, factor, twice=False):
    return x * factor

def scale_fwd(x, factor, twice):
    return scale(x, factor, twice), (x,)

def scale_bwd(factor, twice, residuals, g):
    if twice:
        g = g * 2
    if factor > 2:
        g = g * factor
    if residuals[0].sum() > 0:  # finding: tracer-branch
        g = -g
    return (g,)

scale.defvjp(scale_fwd, scale_bwd)

@jax.jit
def step(x):
    return jax.grad(lambda x: scale(x, factor=4, twice=False).sum())(x)

step(jnp.ones(3))
