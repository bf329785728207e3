# source: khdlr/augmax#11
# blind: third

import functools

import jax
import jax.numpy as jnp

tree = jax.tree_util


def pad_to(n):
    return lambda x: jnp.pad(x, [(0, n - x.shape[0])] + [(0, 0)] * (x.ndim - 1))


class Batcher:
    def __init__(self, size):
        self.size = size
        self._pad = functools.partial(jax.tree_map, pad_to(size))  # finding

    def __call__(self, examples):
        return self._pad(examples)

    def stack(self, many):
        return tree.tree_map(lambda *xs: jnp.stack(xs), *map(self, many))


if __name__ == "__main__":
    make = Batcher(4)
    print(make.stack([{"x": jnp.ones((2, 3))}, {"x": jnp.ones((4, 3))}])["x"].shape)
