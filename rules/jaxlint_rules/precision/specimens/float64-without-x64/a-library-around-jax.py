# a dtype of a library around JAX, which may enable x64 itself, and one of JAX

import jax.numpy as jnp
from jaxfi import jaxm


def wide(x):
    return x.astype(jaxm.float64)


def asked_for(x):
    return x.astype(jnp.float64)  # finding


print(wide(jnp.ones(3)), asked_for(jnp.ones(3)))
