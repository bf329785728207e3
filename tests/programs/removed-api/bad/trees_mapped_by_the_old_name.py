# source: patrick-kidger/equinox#724
# blind: second

import jax
import jax.numpy as jnp
from jax.core import Primitive  # finding
from jax.tree_util import tree_leaves


def make_identity(name):
    prim = Primitive(name)
    prim.def_impl(lambda x: x)
    prim.def_abstract_eval(lambda aval: aval)
    return prim.bind


def polyak(target, online, tau):
    return jax.tree_map(lambda t, o: (1 - tau) * t + tau * o, target, online)  # finding


def count(tree):
    return sum(leaf.size for leaf in tree_leaves(tree))


def main():
    online = {"w": jnp.ones((3, 2)), "b": jnp.zeros(2)}
    target = polyak(online, online, 0.01)
    print(count(target), make_identity("tag")(1.0))


if __name__ == "__main__":
    main()
