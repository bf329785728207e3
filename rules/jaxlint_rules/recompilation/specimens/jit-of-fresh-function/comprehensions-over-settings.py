# comprehensions that run an eager scan for each of many settings, and one that compiles the function around it

import jax
import jax.numpy as jnp
from jax import lax


def decay(rate, amount):
    def step(level, _):
        return level * (1.0 - rate * 0.01), level

    return lax.scan(step, amount, None, length=200)[1]  # finding


def well(rate, amount):
    def step(level, _):
        return level * (1.0 - rate * 0.01), level

    return lax.scan(step, amount, None, length=200)[1]


compiled = jax.jit(well)
rates = [0.1 * n for n in range(40)]
curves = [decay(rate, jnp.ones(3)) for rate in rates]
good = [compiled(rate, jnp.ones(3)) for rate in rates]
sums = jnp.stack([lax.fori_loop(0, 50, lambda i, c: c + rate * i, 0.0) for rate in rates])  # finding
print(jnp.stack(curves).shape, jnp.stack(good).shape, sums.shape)
