# source: jax-ml/jax#2520
# blind: first

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np


class Norm(eqx.Module):
    mean: jax.Array

    def __init__(self, dim):
        self.mean = jnp.zeros(dim)
        self.mean = self.mean + 1.0

    def observe(self, x):
        return eqx.tree_at(lambda m: m.mean, self, 0.9 * self.mean + 0.1 * x)


def collect(fn, xs):
    out = np.empty((len(xs), 3), np.float32)
    for i, x in enumerate(xs):
        out[i] = x
    image = np.array(fn(out))
    image[0] = 0.0
    image.sort()
    return image


def push(state, item):
    state = dict(state)
    state["last"] = item
    return state


if __name__ == "__main__":
    print(collect(jax.jit(jnp.tanh), [np.ones(3)] * 2), Norm(3).observe(jnp.ones(3)), push({}, 1))
