# loops as long as an argument says

import jax
import jax.numpy as jnp

@jax.jit
def power(x, n):
    for _ in range(n):  # finding
        x = x * 2
    return x

@jax.jit
def ramp(x, n):
    total = jnp.zeros(n)
    for i in range(1, n):  # finding
        total = total.at[i].set(x * i)
    return total

@jax.jit
def rows(x):
    for i in range(x.shape[0]):
        x = x.at[i].add(i)
    return x
