# source: google/brax#228
# blind: eighteenth

from typing import NamedTuple

import jax
import jax.numpy as jnp


class EnvState(NamedTuple):
    pos: jax.Array
    vel: jax.Array
    reward: jax.Array
    t: jax.Array


class Reacher:
    dt = 0.05
    goal = jnp.array([1.0])

    def reset(self, key):
        pos = jax.random.uniform(key, (1,), minval=-0.1, maxval=0.1)
        return EnvState(pos, jnp.zeros(1), jnp.zeros(()), jnp.zeros((), jnp.int32))

    def step(self, state, action):
        vel = state.vel + self.dt * action
        pos = state.pos + self.dt * vel
        reward = -jnp.abs(pos - self.goal)  # finding
        return EnvState(pos, vel, reward, state.t + 1)  # finding-also


def rollout(env, policy, key, horizon):
    k_reset, k_act = jax.random.split(key)

    def body(carry, k):
        action = policy(k, carry.pos)
        new = env.step(carry, action)
        return new, new.reward

    init = env.reset(k_reset)
    return jax.lax.scan(body, init, jax.random.split(k_act, horizon))  # finding-also


def noisy_policy(key, obs):
    return -obs + 0.1 * jax.random.normal(key, obs.shape)


if __name__ == "__main__":
    final, rewards = rollout(Reacher(), noisy_policy, jax.random.key(0), 10)
    print(final.pos, rewards.sum())
