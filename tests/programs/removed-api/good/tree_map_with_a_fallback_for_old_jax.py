# source: nissymori/mahjax#64
# blind: eighth

import jax
import jax.numpy as jnp

try:
    tree_map = jax.tree.map
except AttributeError:
    tree_map = jax.tree_map


@jax.jit
def sgd(params, grads):
    return tree_map(lambda p, g: p - 0.1 * g, params, grads)


if __name__ == "__main__":
    params = {"w": jnp.ones(3)}
    print(sgd(params, params))
