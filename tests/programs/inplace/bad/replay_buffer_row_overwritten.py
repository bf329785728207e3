# source: google/brax#96
# blind: sixth

"""Replay memory on the device."""
from typing import NamedTuple

import jax
import jax.numpy as jnp


class Buffer(NamedTuple):
    obs: jax.Array
    reward: jax.Array
    head: jax.Array


def create(capacity, dim):
    return Buffer(jnp.zeros((capacity, dim)), jnp.zeros(capacity), jnp.int32(0))


@jax.jit
def push(buffer, obs, reward):
    i = buffer.head % buffer.obs.shape[0]
    buffer.obs[i] = obs  # finding
    buffer.reward[i] = reward  # finding-also
    return buffer._replace(head=buffer.head + 1)


if __name__ == "__main__":
    buffer = create(8, 3)
    for t in range(4):
        buffer = push(buffer, jnp.full(3, t), jnp.float32(t))
    print(buffer)
