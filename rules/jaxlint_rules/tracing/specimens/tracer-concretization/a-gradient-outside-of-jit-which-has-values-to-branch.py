# a gradient outside of jit, which has values to branch by and no floats

import math
import jax
import jax.numpy as jnp

def loss(x):
    if x > 0 and int(x) < 3:
        x = x * x.item()
    scale = float(jax.lax.stop_gradient(x))
    return scale * math.sqrt(x)  # finding

def main():
    x = jnp.float32(2.0)
    value, slope = jax.value_and_grad(loss)(x)
    return math.sqrt(x), float(value), float(slope)
