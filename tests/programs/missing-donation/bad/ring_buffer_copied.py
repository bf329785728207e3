# source: hr0nix/dejax#2
# blind: first

import jax
import jax.numpy as jnp

CAPACITY = 100_000


def init_buffer(obs_dim):
    return {"obs": jnp.zeros((CAPACITY, obs_dim)), "reward": jnp.zeros(CAPACITY), "pos": jnp.int32(0)}


@jax.jit  # finding-also
def add(buffer, obs, reward):  # finding
    i = buffer["pos"] % CAPACITY
    return {
        "obs": buffer["obs"].at[i].set(obs),
        "reward": buffer["reward"].at[i].set(reward),
        "pos": buffer["pos"] + 1,
    }


def collect(stream):
    buffer = init_buffer(64)
    for obs, reward in stream:
        buffer = add(buffer, obs, reward)  # finding-also
    return buffer


if __name__ == "__main__":
    print(collect([(jnp.ones(64), 1.0)] * 20)["pos"])
