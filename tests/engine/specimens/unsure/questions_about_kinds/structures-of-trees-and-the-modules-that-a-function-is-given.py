# structures of trees, and the modules that a function is given
import jax
import jax.numpy as jnp
import numpy as np

def unique(np_, values, size):
    if np_ is jnp:
        return jnp.unique(values, size=size)
    result = np_.unique(values)
    result[0] = 1
    return result

def update(tree, gradients, x):
    leaves, structure = jax.tree.flatten(gradients)
    if structure != tree:
        raise TypeError("another structure")
    return jax.tree.unflatten(structure, leaves), unique(jnp, x, 3), unique(np, [1], 3)

def run(gradients, xs):
    def body(carry, x):
        tree, gradients = carry
        gradients, *_ = update(tree, gradients, x)
        return (tree, gradients), None

    return jax.lax.scan(body, (jax.tree.structure(gradients), gradients), xs)
