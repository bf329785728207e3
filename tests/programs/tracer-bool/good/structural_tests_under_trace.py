# source: jax-ml/jax#16430
# blind: first

import jax
import jax.numpy as jnp


def norm_leaf(leaf):
    if leaf.ndim < 2 or not jnp.issubdtype(leaf.dtype, jnp.floating):
        return leaf
    return leaf / jnp.linalg.norm(leaf, axis=0)


def normalise(tree, skip=()):
    out = {}
    for name, leaf in tree.items():
        if name in skip or leaf is None:
            out[name] = leaf
        elif isinstance(leaf, dict):
            out[name] = normalise(leaf, skip)
        else:
            out[name] = norm_leaf(leaf)
    return out


@jax.jit
def project(params):
    assert all(leaf.size > 0 for leaf in jax.tree.leaves(params))
    longest = max(leaf.shape[0] for leaf in jax.tree.leaves(params))
    if longest > 1024:
        raise ValueError(longest)
    return normalise(params, skip=("bias",))


if __name__ == "__main__":
    print(project({"dense": {"kernel": jnp.ones((3, 4)), "bias": jnp.zeros(4)}}))
