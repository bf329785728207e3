# a default that the caller leaves out stays Python

import jax

@jax.jit
def smooth(x, keep=True):
    if keep:
        return x
    return x * 0.5

def main(x):
    return smooth(x)
