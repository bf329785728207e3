# names of other versions behind flags and early returns
import sys
import jax

NEW = tuple(map(int, jax.__version__.split(".")[:2])) >= (0, 5)
NAMED = hasattr(jax, "tree")
try:
    from jax.tree import map as tree_map
    IMPORTED = True
except ImportError:
    IMPORTED = False

chosen = jax.tree.map if NEW else jax.tree_map

def after_a_question(function, tree):
    if hasattr(jax, "tree"):
        return jax.tree.map(function, tree)
    return jax.tree_map(function, tree)

def after_a_version(function, tree):
    if jax.__version_info__ >= (0, 4, 25):
        return jax.tree.map(function, tree)
    return jax.tree_map(function, tree)

def after_a_flag(function, tree):
    if not NEW:
        return jax.tree_map(function, tree)
    if NAMED and function is not None:
        return jax.tree.map(function, tree)
    if IMPORTED:
        return tree_map(function, tree)
    return jax.tree_multimap(function, tree)

def after_a_try(function, tree):
    try:
        return jax.tree.map(function, tree)
    except AttributeError:
        pass
    return jax.tree_map(function, tree)

@jax.jit
def checked(x):
    if not hasattr(sys, "debugger_of_ours") or not sys.debugger_of_ours.active:
        return x
    if x > 0:
        raise ValueError("positive")
    return x
