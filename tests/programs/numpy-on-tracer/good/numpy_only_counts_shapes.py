# blind: tenth

import jax
import jax.numpy as jnp
import numpy as np


def count(params):
    return sum(int(np.prod(leaf.shape)) for leaf in jax.tree.leaves(params))


def loss(params, x):
    decay = sum(jnp.sum(p**2) for p in jax.tree.leaves(params))
    return jnp.mean((x @ params["w"]) ** 2) + decay / count(params)


print(jax.grad(loss)({"w": jnp.ones((3, 2))}, jnp.ones((4, 3))))
