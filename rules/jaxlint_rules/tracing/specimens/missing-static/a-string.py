# a string

import jax

def normalise(x, mode):
    return x / x.max() if mode == "max" else x / x.sum()

fast = jax.jit(normalise)

def main(x):
    return fast(x, "max")  # finding
