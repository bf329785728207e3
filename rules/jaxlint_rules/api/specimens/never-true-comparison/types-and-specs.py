# types of arrays, and specs beside tuples

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def to_host(tree):
    def convert(leaf):
        if type(leaf) is jax.Array:  # finding
            return jax.device_get(leaf)
        return leaf

    return jax.tree.map(convert, tree)


def sizes(tree):
    return [leaf.size for leaf in jax.tree.leaves(tree) if type(leaf) == jnp.ndarray]  # finding


def is_replicated(names):
    spec = P(*names)
    return spec == ()  # finding


def differs():
    return P("data", None) != ("data", None)  # finding
