# source: jax-ml/jax#11712

from typing import NamedTuple

import jax
import jax.numpy as jnp


class Transition(NamedTuple):
    obs: jnp.DeviceArray  # finding
    action: int
    reward: float


def stack(transitions):
    return jax.tree_map(lambda *xs: jnp.stack([jnp.asarray(x) for x in xs]), *transitions)  # finding


@jax.jit
def value_target(batch, values, gamma=0.99):
    return batch.reward + gamma * values


def main():
    batch = stack([Transition(jnp.ones(3), i, float(i)) for i in range(4)])
    print(value_target(batch, jnp.zeros(4)))


main()
