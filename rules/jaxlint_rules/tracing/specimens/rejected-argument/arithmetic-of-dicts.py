# arithmetic of dicts of parameters and gradients

import collections
import jax
import jax.numpy as jnp


def loss(params, x, y):
    return jnp.mean((x @ params["w"] + params["b"] - y) ** 2)


@jax.jit
def step(params, x, y):
    grads = jax.grad(loss)(params, x, y)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


@jax.jit
def wrong(params, x, y):
    grads = jax.grad(loss)(params, x, y)
    return {"w": params["w"] - 0.1 * grads["w"], "b": params - 0.1 * grads}  # finding


class Tree(dict):
    def __rmul__(self, scale):
        return Tree({name: scale * value for name, value in self.items()})


def main(x, y, counts):
    params = {"w": jnp.ones(3), "b": jnp.zeros(())}
    extra = collections.Counter(counts) + collections.Counter("ab")
    named = params | {"c": 1.0}
    return step(params, x, y), wrong(params, x, y), 0.5 * Tree(params), extra, named
