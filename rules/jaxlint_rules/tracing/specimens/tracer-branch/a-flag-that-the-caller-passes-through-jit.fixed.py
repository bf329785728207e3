# a flag that the caller passes through jit

import jax

def scale(x, double):
    if double:
        return x * 2
    return x

fast = jax.jit(scale, static_argnames="double")

def main(x):
    return fast(x, True)
