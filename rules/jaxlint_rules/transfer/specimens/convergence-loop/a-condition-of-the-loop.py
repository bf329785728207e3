# a condition of the loop

import jax
import jax.numpy as jnp

@jax.jit
def step(x):
    new = 0.5 * (x + 2.0 / x)
    return new, jnp.abs(new - x)

def solve(x, tolerance):
    error = jnp.inf
    while error > tolerance:  # finding
        x, error = step(x)
    return x
