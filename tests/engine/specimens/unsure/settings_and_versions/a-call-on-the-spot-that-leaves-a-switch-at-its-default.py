# a call on the spot that leaves a switch at its default
import jax
import jax.numpy as jnp

def respond(spacing, x, with_fields):
    if with_fields:
        x = x + int(jnp.ceil(2.0 / spacing))
    return x

def response(x, with_fields: bool = False):
    return respond(0.1, x, with_fields=with_fields)

jax.jit(response)(jnp.ones(3))
