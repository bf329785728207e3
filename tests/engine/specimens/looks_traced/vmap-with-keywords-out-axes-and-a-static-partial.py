# vmap with keywords, out_axes and a static partial
import jax
import jax.numpy as jnp
from functools import partial

def distance(a, b, power, squared):
    d = jnp.abs(a - b) ** power
    if squared:
        d = d * d
    return d if power > 1 else 2 * d

pairs = jax.vmap(
    jax.vmap(partial(distance, power=2, squared=True), in_axes=(None, 0)), in_axes=(0, None)
)
jax.jit(pairs)(jnp.ones(3), jnp.ones(2))
jax.vmap(lambda a, n: a if n > 1 else -a, in_axes=(0, None))(jnp.ones(3), 2)
