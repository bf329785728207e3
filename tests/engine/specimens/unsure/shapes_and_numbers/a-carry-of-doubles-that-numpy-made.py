# a carry of doubles that NumPy made
import jax
import numpy as np

def run(xs):
    return jax.lax.scan(lambda carry, x: ((carry[0] + 1,), x * 2), (np.zeros(3),), xs)
