# an import is reported once, and its uses follow
from jax import tree_leaves, vmap  # finding


def count(tree):
    return sum(leaf.size for leaf in tree_leaves(tree))


counts = vmap(count)
