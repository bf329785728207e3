# blind: seventeenth

"""Sample replay batches on the device."""
from typing import NamedTuple

import jax
import jax.numpy as jnp


class Buffer(NamedTuple):
    obs: jax.Array
    act: jax.Array
    rew: jax.Array
    size: jax.Array


def create(capacity, obs_dim):
    return Buffer(
        jnp.zeros((capacity, obs_dim)),
        jnp.zeros(capacity, jnp.int32),
        jnp.zeros(capacity),
        jnp.zeros((), jnp.int32),
    )


@jax.jit
def push(buf, obs, act, rew):
    i = buf.size % buf.obs.shape[0]
    return Buffer(
        buf.obs.at[i].set(obs), buf.act.at[i].set(act), buf.rew.at[i].set(rew), buf.size + 1
    )


def sample(buf, key, batch_size=32):
    limit = jnp.minimum(buf.size, buf.obs.shape[0])
    idx = jax.random.randint(key, (batch_size,), maxval=limit)  # finding
    return buf.obs[idx], buf.act[idx], buf.rew[idx]


def main():
    buf = create(1000, 4)
    key = jax.random.key(0)
    for t in range(50):
        key, k_obs = jax.random.split(key)
        buf = push(buf, jax.random.normal(k_obs, (4,)), t % 3, 1.0)
    key, k_batch = jax.random.split(key)
    obs, act, rew = jax.jit(sample)(buf, k_batch)
    print(obs.shape, act.shape, rew.mean())


if __name__ == "__main__":
    main()
