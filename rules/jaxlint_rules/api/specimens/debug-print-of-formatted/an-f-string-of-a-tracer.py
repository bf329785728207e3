# an f-string of a tracer

import jax

@jax.jit
def f(x):
    jax.debug.print(f"x {x}")  # finding
    return x
