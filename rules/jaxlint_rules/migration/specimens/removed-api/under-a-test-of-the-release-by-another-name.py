# under a test of the release, which is kept in a variable, in parts, in a helper or in an import of another name
import jax
import jax.numpy as jnp
from jax import __version__ as installed

VERSION = tuple(map(int, jax.__version__.split(".")[:2]))
major, minor = map(int, installed.split(".")[:2])


def release():
    return tuple(int(part) for part in jax.__version__.split(".")[:2])


def doubled(tree):
    if VERSION >= (0, 5):
        return jax.tree.map(jnp.add, tree, tree)
    return jax.tree_map(jnp.add, tree, tree)


if (major, minor) >= (0, 5):
    first = jax.tree.map
else:
    first = jax.tree_map

if release() >= (0, 5):
    second = jax.tree.map
else:
    second = jax.tree_map

