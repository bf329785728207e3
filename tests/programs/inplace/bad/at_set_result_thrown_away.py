# source: jax-ml/jax#2287
# blind: eighteenth

import dataclasses

import jax
import jax.numpy as jnp


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class ReplayBuffer:
    obs: jax.Array
    reward: jax.Array
    head: jax.Array
    size: jax.Array


def make_buffer(capacity, obs_dim):
    zero = jnp.zeros((), jnp.int32)
    return ReplayBuffer(jnp.zeros((capacity, obs_dim)), jnp.zeros(capacity), zero, zero)


def push(buf, obs, reward):
    capacity = buf.reward.shape[0]
    new_obs = buf.obs.at[buf.head].set(obs)
    buf.reward.at[buf.head].set(reward)  # finding
    return dataclasses.replace(
        buf,
        obs=new_obs,
        head=(buf.head + 1) % capacity,
        size=jnp.minimum(buf.size + 1, capacity),
    )


def sample(buf, key, n):
    idx = jax.random.randint(key, (n,), 0, buf.size)
    return buf.obs[idx], buf.reward[idx]


def fill(buf, key, steps):
    def body(b, k):
        return push(b, jax.random.normal(k, (b.obs.shape[1],)), jnp.asarray(1.0)), None

    return jax.lax.scan(body, buf, jax.random.split(key, steps))[0]


if __name__ == "__main__":
    k_fill, k_sample = jax.random.split(jax.random.key(0))
    buffer = fill(make_buffer(32, 3), k_fill, 10)
    print(sample(buffer, k_sample, 4)[1])
