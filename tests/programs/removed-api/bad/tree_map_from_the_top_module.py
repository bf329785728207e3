# source: RobertTLange/gymnax#93
# blind: eighth

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def sgd(params, grads):
    return jax.tree_map(lambda p, g: p - 0.1 * g, params, grads)  # finding


def clip(grads, limit):
    norm = np.sqrt(sum(np.sum(np.square(g)) for g in jax.tree_util.tree_leaves(grads)))
    return jax.tree_util.tree_map(lambda g: g * min(1.0, limit / (norm + 1e-6)), grads)


if __name__ == "__main__":
    params = {"w": jnp.ones(3), "b": jnp.zeros(1)}
    print(sgd(params, clip(params, 1.0)))
