# blind: ninth

import math

import jax
import jax.numpy as jnp
import numpy as np


def global_norm(tree):
    return np.sqrt(sum((leaf**2).sum() for leaf in jax.tree.leaves(tree)))  # finding


def clip(tree, limit):
    scale = jnp.minimum(1.0, limit / (global_norm(tree) + 1e-6))
    return jax.tree.map(lambda leaf: leaf * scale, tree)


def make_update(apply, limit=1.0, lr=0.1):
    def update(params, batch):
        grads = jax.grad(lambda p: jnp.mean((apply(p, batch["x"]) - batch["y"]) ** 2))(params)
        return jax.tree.map(lambda p, g: p - lr * g, params, clip(grads, limit))

    return jax.jit(update)


def main():
    params = {"w": jnp.ones(4) / math.sqrt(4), "b": jnp.zeros(())}
    update = make_update(lambda p, x: x @ p["w"] + p["b"])
    return update(params, {"x": jnp.ones((8, 4)), "y": jnp.zeros(8)})


if __name__ == "__main__":
    print(main())
