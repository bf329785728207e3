# source: hr0nix/dejax#2
# blind: first

from functools import partial

import jax
import jax.numpy as jnp

CAPACITY = 100_000


@partial(jax.jit, donate_argnums=0)
def add(buffer, obs):
    i = buffer["pos"] % CAPACITY
    return {"obs": buffer["obs"].at[i].set(obs), "pos": buffer["pos"] + 1}


def collect(stream):
    buffer = {"obs": jnp.zeros((CAPACITY, 64)), "pos": jnp.int32(0)}
    for obs in stream:
        buffer = add(buffer, obs)
    return buffer


if __name__ == "__main__":
    print(collect([jnp.ones(64)] * 20)["pos"])
