# two that are written out

import jax
import jax.numpy as jnp

@jax.jit
def swap(roles, first, second, values):
    for at, role in [(first, values[1]), (second, values[0])]:
        roles = roles.at[at].set(role)
    return roles
