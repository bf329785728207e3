# blind: tenth

import jax
import jax.numpy as jnp


def penalty(params):
    total = 0.0
    for path, leaf in jax.tree_util.tree_leaves_with_path(params):
        if jnp.max(jnp.abs(leaf)) > 10.0:
            print("large weights in", path)
        total = total + jnp.sum(leaf**2)
    return total


print(jax.grad(penalty)({"a": jnp.ones(3), "b": {"c": jnp.ones(2)}}))
