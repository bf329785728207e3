# arguments, and f-strings of static values

import jax

@jax.jit
def f(x):
    jax.debug.print("x {x}", x=x)
    jax.debug.print(f"{x.shape} " + "{x}", x=x)
    return x

def g(x):
    jax.debug.print(f"x {x}")
