# a match statement on a tracer
import jax
import jax.numpy as jnp

@jax.jit
def f(x, mode):
    match mode:  # finding: tracer-branch
        case 0:  # finding-missed
            return x
        case _:
            return -x

f(jnp.ones(3), 1)
