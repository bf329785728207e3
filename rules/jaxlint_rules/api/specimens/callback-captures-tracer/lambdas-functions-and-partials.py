# lambdas, functions and partials

import functools
import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback

def log(step, value):
    print(step, value)

@jax.jit
def solve(a, b):
    def host():
        return np.linalg.solve(a, b)  # finding

    x = jax.pure_callback(host, jax.ShapeDtypeStruct(b.shape, b.dtype))
    jax.debug.callback(lambda: print("x", x))  # finding
    io_callback(functools.partial(log, 0, x), None)  # finding
    return x
