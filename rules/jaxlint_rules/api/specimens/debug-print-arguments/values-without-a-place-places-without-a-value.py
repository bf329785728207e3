# values without a place, places without a value

import jax
import jax.numpy as jnp

@jax.jit
def f(x, y):
    jax.debug.print("x", x)  # finding
    jax.debug.print("x %f", x)  # finding
    jax.debug.print(x)  # finding
    jax.debug.print("x {} y {}", x)  # finding
    jax.debug.print("x {x}", y=y)  # finding
    return x + y
