# loops that draw, and short ones over settings

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt

@jax.jit
def solve(a):
    return jnp.linalg.norm(a)

def study():
    results = {}
    for n in [10, 20, 40]:
        results[n] = float(solve(jnp.ones((n, n))))
    return results
