# blind: every clause

import jax
import jax.numpy as jnp


def score(p, x, order):
    if p > 1:
        x = x * p
    if order == 2:
        x = x ** 2
    return x.sum()


f = jax.vmap(score, in_axes=(None, 0, None))
print(f(2.0, jnp.ones((3, 2)), 2))
g = jax.vmap(score, in_axes=(None, 0, None))
print(g(jnp.float32(3.0), jnp.ones((3, 2)), 1))
