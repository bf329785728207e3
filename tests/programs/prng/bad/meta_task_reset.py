# source: dunnolab/xland-minigrid#42
# blind: nineteenth

from typing import NamedTuple

import jax
import jax.numpy as jnp

NUM_ENVS = 512


class Task(NamedTuple):
    goal: jax.Array
    wind: jax.Array


class EnvState(NamedTuple):
    agent: jax.Array
    task: Task
    t: jax.Array


def sample_task(key):
    k_goal, k_wind = jax.random.split(key)
    goal = jax.random.uniform(k_goal, (2,), minval=-1.0, maxval=1.0)
    return Task(goal, 0.02 * jax.random.normal(k_wind, (2,)))


def reset(key, task):
    k_agent, _ = jax.random.split(key)
    agent = jax.random.uniform(k_agent, (2,), minval=-1.0, maxval=1.0)
    return EnvState(agent, task, jnp.int32(0))


def step(state, action):
    agent = jnp.clip(state.agent + 0.05 * jnp.tanh(action) + state.task.wind, -1.0, 1.0)
    reward = -jnp.linalg.norm(agent - state.task.goal)
    return EnvState(agent, state.task, state.t + 1), reward


@jax.jit
def collect_meta_batch(rng):
    rng, rng_act = jax.random.split(rng)  # finding-also
    task_rng = jax.random.split(rng, num=NUM_ENVS)  # finding-also
    reset_rng = jax.random.split(rng, num=NUM_ENVS)  # finding
    tasks = jax.vmap(sample_task)(task_rng)
    start = jax.vmap(reset)(reset_rng, tasks)

    def roll(state, k):
        action = jax.random.normal(k, state.agent.shape)
        return jax.vmap(step)(state, action)

    final, rewards = jax.lax.scan(roll, start, jax.random.split(rng_act, 20))
    return start, rewards.sum(axis=0)


def main():
    rng = jax.random.key(11)
    rng, k = jax.random.split(rng)
    start, returns = collect_meta_batch(k)
    distance = jnp.linalg.norm(start.agent - start.task.goal, axis=-1)
    print("mean distance to the goal at reset", float(distance.mean()))
    print("mean return of a random policy", float(returns.mean()))


if __name__ == "__main__":
    main()
