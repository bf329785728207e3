# source: hr0nix/dejax#2
# blind: nineteenth

import time
from typing import NamedTuple

import jax
import jax.numpy as jnp

CAPACITY, OBS = 50_000, 24


class Store(NamedTuple):
    obs: jax.Array
    next_obs: jax.Array
    action: jax.Array
    reward: jax.Array
    size: int


def empty_store():
    return Store(
        jnp.zeros((CAPACITY, OBS)),
        jnp.zeros((CAPACITY, OBS)),
        jnp.zeros((CAPACITY, 4)),
        jnp.zeros((CAPACITY,)),
        0,
    )


def add(store, obs, action, reward, next_obs):  # finding-also
    slot = store.size % CAPACITY
    return Store(
        store.obs.at[slot].set(obs),  # finding
        store.next_obs.at[slot].set(next_obs),  # finding-also
        store.action.at[slot].set(action),  # finding-also
        store.reward.at[slot].set(reward),  # finding-also
        store.size + 1,
    )


@jax.jit
def act_and_step(obs, key):
    k_act, k_env = jax.random.split(key)
    action = jnp.tanh(jax.random.normal(k_act, (4,)))
    drift = jnp.concatenate([action, jnp.zeros(OBS - 4)])
    next_obs = 0.98 * obs + 0.1 * drift + 0.01 * jax.random.normal(k_env, (OBS,))
    return action, -jnp.sum(next_obs ** 2), next_obs


@jax.jit
def sample(store, key):
    idx = jax.random.randint(key, (256,), 0, store.size)
    return store.obs[idx], store.action[idx], store.reward[idx], store.next_obs[idx]


def main():
    key = jax.random.key(0)
    store, obs = empty_store(), jnp.zeros(OBS)
    start = time.perf_counter()
    for step in range(250):
        key, sub = jax.random.split(key)
        action, reward, next_obs = act_and_step(obs, sub)
        store = add(store, obs, action, reward, next_obs)  # finding-also
        obs = next_obs
    batch = sample(store, key)
    print("mean reward in batch", float(batch[2].mean()), "seconds", round(time.perf_counter() - start, 3))


if __name__ == "__main__":
    main()
