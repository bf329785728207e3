# source: jax-ml/jax#29943
# blind: ninth

import jax
import jax.numpy as jnp
from jax import core, tree_util


def describe(tree):
    leaves, treedef = tree_util.tree_flatten(tree)
    shaped = [core.get_aval(leaf) for leaf in leaves]
    return tree_util.tree_unflatten(treedef, [core.raise_to_shaped(aval) for aval in shaped])  # finding


def memory(tree):
    return sum(a.size * a.dtype.itemsize for a in tree_util.tree_leaves(describe(tree)))


if __name__ == "__main__":
    print(memory({"w": jnp.ones((4, 4)), "b": jnp.ones(4)}))
