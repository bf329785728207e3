# trees, paths and leaves
import jax
import jax.numpy as jnp

@jax.jit
def f(params):
    leaves, treedef = jax.tree.flatten(params)
    if treedef.num_leaves > 1 and len(leaves) == 2:
        leaves = [leaf * 2 for leaf in leaves if leaf.ndim]
    sizes = jax.tree.map(lambda p: p.size, params)
    if sum(jax.tree.leaves(sizes)) > 3:
        params = jax.tree.map(lambda p: p + 1, params)
    decay = jax.tree.map(lambda p: p.ndim > 1, params)
    def scale(path, p):
        name = jax.tree_util.keystr(path)
        return p * 2 if "w" in name else p
    params = jax.tree_util.tree_map_with_path(scale, params)
    return jax.tree.map(lambda d, p: p * 2 if d else p, decay, params)

f({"w": jnp.ones((2, 2)), "b": jnp.ones(2)})
