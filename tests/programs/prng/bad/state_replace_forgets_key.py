# source: google/brax#174

from typing import NamedTuple

import jax
import jax.numpy as jnp


class EnvState(NamedTuple):
    pos: jax.Array
    goal: jax.Array
    key: jax.Array
    t: jax.Array


def reset(key):
    key, sub = jax.random.split(key)
    return EnvState(jnp.zeros(2), jax.random.uniform(sub, (2,)), key, jnp.int32(0))


def step(state, action):
    key, sub = jax.random.split(state.key)  # finding-also
    wind = 0.05 * jax.random.normal(sub, (2,))  # finding-also
    pos = state.pos + 0.1 * action + wind
    reward = -jnp.linalg.norm(pos - state.goal)
    return state._replace(pos=pos, t=state.t + 1), reward  # finding


@jax.jit
def episode(key, actions):
    return jax.lax.scan(step, reset(key), actions)


if __name__ == "__main__":
    print(episode(jax.random.key(0), jnp.ones((6, 2)))[1])
