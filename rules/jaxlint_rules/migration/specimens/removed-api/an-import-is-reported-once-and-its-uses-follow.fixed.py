# an import is reported once, and its uses follow
from jax import vmap
from jax.tree_util import tree_leaves


def count(tree):
    return sum(leaf.size for leaf in tree_leaves(tree))


counts = vmap(count)
