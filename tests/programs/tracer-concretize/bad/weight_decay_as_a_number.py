# blind: tenth

import jax
import jax.numpy as jnp


def l2(params):
    total = 0.0
    for leaf in jax.tree_util.tree_leaves(params):
        total += float(jnp.sum(leaf**2))  # finding
    return total


def loss(params, x, y):
    pred = jnp.tanh(x @ params["w1"]) @ params["w2"]
    return jnp.mean((pred - y) ** 2) + 1e-4 * l2(params)


params = {"w1": jnp.ones((3, 4)), "w2": jnp.ones((4, 1))}
print(jax.value_and_grad(loss)(params, jnp.ones((5, 3)), jnp.ones((5, 1))))
