# a root by Newton's method

import jax
import jax.numpy as jnp
from jax import lax

def newton(theta, tolerance=1e-5):
    def unsettled(state):
        return state[1] > tolerance

    def step(state):
        x, _ = state
        change = (x**2 - theta) / (2 * x)
        return x - change, jnp.abs(change)

    x, _ = lax.while_loop(unsettled, step, (jnp.ones_like(theta), jnp.inf))  # finding
    return x

def loss(theta, target):
    return (newton(theta) - target) ** 2

@jax.jit
def update(theta, target):
    return theta - 0.1 * jax.grad(loss)(theta, target)
