# source: google-deepmind/optax#1059
# blind: ninth

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp


class Averaged(NamedTuple):
    params: dict
    anchor: dict
    weight: jax.Array


def init(params):
    return Averaged(params=params, anchor=params, weight=jnp.zeros(()))


@partial(jax.jit, donate_argnums=(0,))
def step(state, x):
    grads = jax.grad(lambda p: jnp.mean((x @ p["w"]) ** 2))(state.params)
    anchor = jax.tree.map(lambda z, g: z - 0.1 * g, state.anchor, grads)
    weight = state.weight + 1.0
    params = jax.tree.map(lambda p, z: p + (z - p) / weight, state.params, anchor)
    return Averaged(params, anchor, weight)


def main():
    state = init({"w": jnp.ones(8)})
    for _ in range(3):
        state = step(state, jnp.ones((4, 8)))  # finding
    return state.weight


if __name__ == "__main__":
    print(main())
