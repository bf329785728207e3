# custom_vjp with nondiff_argnums
from functools import partial

import jax
import jax.numpy as jnp

@partial(jax.custom_vjp, nondiff_argnums=(1, 2))
def att(q, block, debug=False):
    if block > 2 and not debug:
        q = q * block
    return q.sum()

def att_fwd(q, block, debug):
    if debug:
        print("forward")
    return att(q, block, debug), (q,)

def att_bwd(block, debug, residuals, g):
    (q,) = residuals
    if block > 2:
        g = g * block
    return (g * jnp.ones_like(q),)

att.defvjp(att_fwd, att_bwd)

@jax.jit
def step(q):
    return jax.grad(lambda q: att(q, 4, False))(q)

step(jnp.ones(3))
