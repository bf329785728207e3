# blind: tenth

import jax
import jax.numpy as jnp


def swap(old, new):
    return new * 0.5, old + 1.0


step = jax.jit(swap, donate_argnums=(0, 1))


def relax(n):
    zeros = jnp.zeros((n, n))
    a, b = step(zeros, zeros)  # finding
    for _ in range(3):
        a, b = step(a, b)
    return a


print(relax(8).sum())
