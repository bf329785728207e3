# source: jax-ml/jax#1705
# blind: second
# missed: the leaves of a tree of which nothing is known

import collections

import jax
import jax.numpy as jnp


def tree_devices(tree):
    places = collections.Counter()
    for leaf in jax.tree.leaves(tree):
        places[str(leaf.device())] += leaf.nbytes  # finding
    return places


class Placement:
    def __init__(self, devices):
        self.devices = devices

    def spread(self, tree):
        leaves, treedef = jax.tree.flatten(tree)
        placed = [
            jax.device_put(leaf, self.devices[i % len(self.devices)]) for i, leaf in enumerate(leaves)
        ]
        return treedef.unflatten(placed)


def main():
    params = {f"layer{i}": jnp.ones((8, 8)) for i in range(4)}
    params = Placement(jax.devices()).spread(params)
    for device, size in tree_devices(params).items():
        print(device, size)


if __name__ == "__main__":
    main()
