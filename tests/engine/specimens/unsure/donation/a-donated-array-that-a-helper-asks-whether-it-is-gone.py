# a donated array that a helper asks whether it is gone
import jax
import jax.numpy as jnp

double = jax.jit(lambda p: p * 2, donate_argnums=0)

def drop(value):
    if isinstance(value, jax.Array) and not value.is_deleted():
        value.delete()

def doubled(params):
    result = double(params)
    jax.tree.map(drop, params)
    return result
