# what follows a return for another version, and what does not
import jax

if jax.__version_info__ < (0, 4, 20):
    raise ImportError("too old")

def raising(function, tree):
    if not hasattr(jax, "tree"):
        raise ImportError("too old")
    return jax.tree_map(function, tree)  # finding: removed-api

def returning(function, tree, twice):
    if twice:
        if not hasattr(jax, "tree"):
            return tree
        tree = jax.tree_map(function, tree)  # finding: removed-api
    return jax.tree_map(function, tree)  # finding: removed-api

jax.tree_map(abs, [1.0])  # finding: removed-api
