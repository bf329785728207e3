# source: jax-ml/jax#192

import jax
import jax.numpy as jnp


def tree_noise(key, tree, sigma):
    leaves, treedef = jax.tree.flatten(tree)
    keys = jax.random.split(key, len(leaves))
    noise = [sigma * jax.random.normal(k, leaf.shape) for k, leaf in zip(keys, leaves)]
    return jax.tree.unflatten(treedef, noise)


@jax.jit
def perturb(params, key):
    return jax.tree.map(jnp.add, params, tree_noise(key, params, 0.1))


def population(params, key, size):
    return [perturb(params, k) for k in jax.random.split(key, size)]


if __name__ == "__main__":
    print(population({"a": jnp.zeros(2), "b": jnp.zeros((2, 2))}, jax.random.key(0), 3)[0])
