# a traced number of steps, and other transformations

import jax
from jax import lax

@jax.jit
def smooth(x, steps):
    def run(v):
        return lax.fori_loop(0, steps, lambda i, c: c * 0.5, v)  # finding
    return jax.value_and_grad(run)(x)

def grow(x):
    return lax.while_loop(lambda c: c < 10.0, lambda c: c * 2.0, x)  # finding

def main():
    value, pullback = jax.vjp(grow, 1.0)
    return value, pullback(1.0), jax.hessian(grow)(1.0)
