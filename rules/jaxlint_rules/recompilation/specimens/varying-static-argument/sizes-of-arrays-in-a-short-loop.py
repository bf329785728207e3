# sizes of arrays in a short loop, in a long one, and two parameters of one call

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnums=(0, 1))
def grid(n, m):
    size = min(n, m)
    return jnp.sin(jnp.arange(size))


@partial(jax.jit, static_argnums=0)
def scaled(n, x):
    return n * x


for n in range(5, 10):
    print(grid(n, n + 1))

for n in range(5, 1000):
    print(grid(n, n + 1))  # finding

for n in range(5, 10):
    print(scaled(n, jnp.ones(3)))  # finding
