# source: jax-ml/jax#196
# blind: second

import dataclasses
from functools import partial

import jax
import jax.numpy as jnp


@dataclasses.dataclass(frozen=True)
class Reduction:
    axes: list = dataclasses.field(default_factory=lambda: [0])
    keepdims: bool = False

    def __call__(self, x):
        return jnp.sum(x, axis=tuple(self.axes), keepdims=self.keepdims)


@partial(jax.jit, static_argnums=1)
def reduce_tree(tree, reduction):
    return jax.tree.map(reduction, tree)


def summarise(tree, reductions):
    return {name: reduce_tree(tree, r) for name, r in reductions.items()}  # finding


def main():
    tree = {"a": jnp.ones((3, 4)), "b": jnp.ones((2, 5))}
    reductions = {"rows": Reduction(), "all": Reduction([0, 1], keepdims=True)}
    print(summarise(tree, reductions))


if __name__ == "__main__":
    main()
