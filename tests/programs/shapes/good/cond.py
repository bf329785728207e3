import jax.numpy as jnp
from jax import lax


def step(done, x):
    return lax.cond(done, lambda v: jnp.zeros((3, 1)), lambda v: v[:, None] * 2.0, x)


print(step(True, jnp.ones(3)))
