# blind: tenth

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("mode",))
def reduce(x, mode, axis=None):
    if mode == "mean":
        return x.mean(axis)
    if mode != "sum":
        raise ValueError(mode)
    if axis is None:
        return x.sum()
    return x.sum(axis)


print(reduce(jnp.ones((2, 3)), mode="sum"), reduce(jnp.ones(3), mode="mean"))
