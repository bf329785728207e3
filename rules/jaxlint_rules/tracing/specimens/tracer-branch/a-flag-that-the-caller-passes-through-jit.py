# a flag that the caller passes through jit

import jax

def scale(x, double):
    if double:  # finding
        return x * 2
    return x

fast = jax.jit(scale)

def main(x):
    return fast(x, True)
