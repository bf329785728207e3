# function: descend
# arguments: weights=Weights, x=array, y=array
# refused: `note` of a `Weights` is not a pytree leaf
# flags: --note

"""A pytree of one's own keeps a note beside its arrays, which is no leaf."""

import argparse

import jax
import jax.numpy as jnp


@jax.tree_util.register_pytree_node_class
class Weights:
    def __init__(self, w, b):
        self.w, self.b = w, b
        self.note = "fresh"

    def tree_flatten(self):
        return (self.w, self.b), None

    @classmethod
    def tree_unflatten(cls, _, leaves):
        return cls(*leaves)


def descend(weights, x, y):
    error = x @ weights.w + weights.b - y
    new = Weights(weights.w - 0.05 * x.T @ error / len(y), weights.b - 0.05 * error.mean())
    new.note = weights.note + "."
    return new


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--note", action="store_true")
    args = parser.parse_args()
    x = jax.random.normal(jax.random.key(0), (64, 4))
    y = x @ jnp.arange(4.0) + 1
    weights = Weights(jnp.zeros(4), jnp.zeros(()))
    for _ in range(60):
        weights = descend(weights, x, y)
    print("w", weights.w, "b", weights.b)
    if args.note:
        print("note", weights.note)


if __name__ == "__main__":
    main()
