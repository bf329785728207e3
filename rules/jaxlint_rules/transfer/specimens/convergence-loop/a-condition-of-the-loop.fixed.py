# a condition of the loop

import jax
import jax.numpy as jnp

@jax.jit
def step(x):
    new = 0.5 * (x + 2.0 / x)
    return new, jnp.abs(new - x)

def solve(x, tolerance):
    error = jnp.inf

    def cond_fun(carry):
        _, error = carry
        return error > tolerance

    def body_fun(carry):
        x, error = carry
        x, error = step(x)
        return x, error

    x, error = jax.lax.while_loop(cond_fun, body_fun, (x, error))  # finding
    return x
