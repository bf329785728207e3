# flags: --count
"""Springs whose state is a registered dataclass; --count tells how many states the program made."""

import dataclasses
import sys

import jax
import jax.numpy as jnp

COUNT = "--count" in sys.argv
MADE = {"states": 0}


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class State:
    x: jax.Array
    v: jax.Array

    def __post_init__(self):
        MADE["states"] += COUNT


def force(state):
    gap = state.x - jnp.roll(state.x, 1)
    pull = -2.0 * gap + 0.1 * gap**3
    return pull - jnp.mean(pull)


def main():
    state = State(jnp.sin(jnp.arange(32.0)), jnp.zeros(32))
    for number in range(120):
        v = state.v + 0.05 * force(state)
        state = State(state.x + 0.05 * v, v)
        if number % 40 == 0:
            print(number, f"{float(jnp.max(state.x)):.4f}")
    print(MADE)


if __name__ == "__main__":
    main()
