# source: RobertTLange/gymnax#93
# blind: second

from typing import NamedTuple

import jax
import jax.numpy as jnp


class EnvState(NamedTuple):
    position: jax.Array
    velocity: jax.Array
    time: jax.Array


def reset(key):
    low, high = -0.05, 0.05
    start = jax.random.uniform(key, (2,), minval=low, maxval=high)  # finding-also
    return EnvState(start[0], start[1], jnp.zeros((), jnp.int32))


def step(state, action):
    force = jnp.where(action == 1, 1.0, -1.0)
    velocity = state.velocity + 0.02 * force
    position = state.position + 0.02 * velocity
    return EnvState(position, velocity, state.time + 1), -jnp.abs(position)


def rollout(key, policy, envs, horizon):
    reset_key, act_key = jax.random.split(key)
    state = jax.vmap(lambda _: reset(reset_key))(jnp.arange(envs))  # finding

    def body(state, key):
        actions = jax.random.bernoulli(key, policy, (envs,)).astype(jnp.int32)
        state, reward = jax.vmap(step)(state, actions)
        return state, reward

    return jax.lax.scan(body, state, jax.random.split(act_key, horizon))


if __name__ == "__main__":
    run = jax.jit(rollout, static_argnums=(2, 3))
    _, rewards = run(jax.random.key(0), 0.5, 16, 10)
    print(rewards.shape)
