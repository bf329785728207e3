# source: jax-ml/jax#16430

import jax
import jax.numpy as jnp


def weighted_sum(tree, weights):
    if isinstance(tree, dict):
        return sum(weighted_sum(tree[name], weights[name]) for name in sorted(tree))
    if isinstance(tree, (list, tuple)):
        return sum(weighted_sum(t, w) for t, w in zip(tree, weights))
    if hasattr(tree, "shape") and tree.shape:
        return jnp.sum(tree * weights)
    return tree * weights


@jax.jit
def objective(params, weights):
    total = weighted_sum(params, weights)
    if "bias" in params:
        total = total + jnp.sum(params["bias"] ** 2)
    if not params.get("layers"):
        return total
    return total / len(params["layers"])


params = {"layers": [jnp.ones((2, 2)), jnp.ones(3)], "bias": jnp.zeros(2), "scale": 2.0}
print(objective(params, jax.tree.map(jnp.ones_like, params)))
