# blind: tenth

import jax
import jax.numpy as jnp


def depth(gap, reach):
    touching = gap < reach
    inside = jnp.where(touching, reach - gap, 1.0)
    return jnp.where(touching, jnp.sqrt(inside), 0.0)


print(jax.grad(lambda r: depth(jnp.array([0.5, 2.0]), r).sum())(1.0))
