# a tuple for one description, or for another number

import jax
import numpy as np

def halves(x):
    return x[: len(x) // 2], x[len(x) // 2 :]

def whole(x):
    if x.sum() > 0:
        return x
    return -x

@jax.jit
def f(x):
    half = jax.ShapeDtypeStruct((x.shape[0] // 2,), x.dtype)
    a, b = jax.pure_callback(halves, half, x)  # finding
    c, d = jax.pure_callback(halves, (half, half), x)
    e, _, _ = jax.pure_callback(halves, (half, half, half), x)  # finding
    return a + b + c + d + e, jax.pure_callback(whole, x, x)
