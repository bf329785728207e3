# blind: ninth

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp


class Averaged(NamedTuple):
    params: dict
    anchor: dict


def init(params):
    return Averaged(params=params, anchor=jax.tree.map(jnp.copy, params))


@partial(jax.jit, donate_argnums=(0,))
def step(state, x):
    grads = jax.grad(lambda p: jnp.mean((x @ p["w"]) ** 2))(state.params)
    anchor = jax.tree.map(lambda z, g: z - 0.1 * g, state.anchor, grads)
    return Averaged(jax.tree.map(lambda p, z: 0.5 * (p + z), state.params, anchor), anchor), grads


def main():
    state, best = init({"w": jnp.ones(8)}), None
    for _ in range(3):
        best = jax.tree.map(jnp.copy, state.params)
        state, grads = step(state, jnp.ones((4, 8)))
    return best, grads


if __name__ == "__main__":
    print(main())
