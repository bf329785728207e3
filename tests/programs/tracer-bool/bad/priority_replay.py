# blind: twentieth

"""Prioritised replay memory for a small off-policy agent."""
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp

CAPACITY = 1024
OBS_DIM = 6
BATCH = 32


class PriorityConfig(NamedTuple):  # finding-also
    alpha: float = 0.6
    beta: float = 0.4
    floor: float = 1e-3


class Replay(NamedTuple):
    obs: jax.Array
    reward: jax.Array
    priority: jax.Array
    cursor: jax.Array


def empty_replay():
    return Replay(
        obs=jnp.zeros((CAPACITY, OBS_DIM)),
        reward=jnp.zeros((CAPACITY,)),
        priority=jnp.zeros((CAPACITY,)),
        cursor=jnp.zeros((), jnp.int32),
    )


@partial(jax.jit, donate_argnums=0)
def insert(replay, obs, reward):
    slot = replay.cursor % CAPACITY
    top = jnp.maximum(replay.priority.max(), 1.0)
    return Replay(
        obs=replay.obs.at[slot].set(obs),
        reward=replay.reward.at[slot].set(reward),
        priority=replay.priority.at[slot].set(top),
        cursor=replay.cursor + 1,
    )


def sampling_probs(cfg, replay):
    filled = jnp.arange(CAPACITY) < replay.cursor
    if cfg.alpha == 0.0:  # finding
        weight = jnp.where(filled, 1.0, 0.0)
    else:
        weight = jnp.where(filled, (replay.priority + cfg.floor) ** cfg.alpha, 0.0)
    return weight / weight.sum()


@jax.jit  # finding-also
def sample(cfg, replay, key):  # finding-also
    probs = sampling_probs(cfg, replay)  # finding-also
    index = jax.random.choice(key, CAPACITY, (BATCH,), p=probs)
    count = jnp.minimum(replay.cursor, CAPACITY)
    importance = (count * probs[index]) ** (-cfg.beta)
    return index, replay.obs[index], replay.reward[index], importance / importance.max()


def main():
    cfg = PriorityConfig(alpha=0.7)
    replay = empty_replay()
    key = jax.random.key(0)
    for _ in range(64):
        key, k_obs, k_rew = jax.random.split(key, 3)
        replay = insert(replay, jax.random.normal(k_obs, (OBS_DIM,)), jax.random.uniform(k_rew))
    key, k_sample = jax.random.split(key)
    index, _, reward, importance = sample(cfg, replay, k_sample)  # finding-also
    print("sampled", index.shape, "mean reward", float(reward.mean()), float(importance.min()))


if __name__ == "__main__":
    main()
