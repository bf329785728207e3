# in_axes=None keeps an argument, vmap alone is not abstract
import jax
import jax.numpy as jnp

def loss(x, delta):
    if delta > 0:
        x = x + delta
    rows = jnp.arange(3) + 1
    if rows[0] > 0:
        x = x * 2
    return x

jax.vmap(loss, in_axes=(0, None))(jnp.ones(3), 0.5)
