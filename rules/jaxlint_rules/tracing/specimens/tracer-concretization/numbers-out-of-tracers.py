# numbers out of tracers

import math
import jax
import jax.numpy as jnp

@jax.jit
def f(x):
    n = int(jnp.ceil(x))  # finding
    y = x.sum().item()  # finding
    z = math.sqrt(x)  # finding
    text = f"{x:.2f}"  # finding
    return float(x[0]), n, y, z, text  # finding
