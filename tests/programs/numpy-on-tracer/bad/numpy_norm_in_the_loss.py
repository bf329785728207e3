# blind: tenth

import jax
import jax.numpy as jnp
import numpy as np


def penalty(params):
    return sum(np.linalg.norm(p) for p in jax.tree.leaves(params))  # finding


def objective(params, x):
    return jnp.mean((x @ params["w"] + params["b"]) ** 2) + 1e-3 * penalty(params)


print(jax.grad(objective)({"w": jnp.ones((3, 2)), "b": jnp.ones(2)}, jnp.ones((5, 3))))
