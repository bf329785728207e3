# an f-string of a tracer

import jax

@jax.jit
def f(x):
    jax.debug.print("x {x}", x=x)
    return x
