# source: dunnolab/xland-minigrid#42
# blind: twenty-first

from typing import NamedTuple

import jax
import jax.numpy as jnp

SIZE = 9


class Maze(NamedTuple):
    agent: jax.Array
    goal: jax.Array
    t: jax.Array


def random_cell(key):
    return jax.random.randint(key, (2,), 0, SIZE)


def make_goal(key):
    return random_cell(key)


def reset(key, goal):
    return Maze(agent=random_cell(key), goal=goal, t=jnp.zeros((), jnp.int32))


MOVES = jnp.array([[0, 1], [0, -1], [1, 0], [-1, 0]])


def step(state, action):
    agent = jnp.clip(state.agent + MOVES[action], 0, SIZE - 1)
    reached = jnp.all(agent == state.goal)
    return state._replace(agent=agent, t=state.t + 1), reached.astype(jnp.float32)


def build_envs(rng, num_envs):
    rng, rng_goal, rng_start = jax.random.split(rng, 3)
    goal_keys = jax.random.split(rng, num_envs)  # finding-also
    start_keys = jax.random.split(rng, num_envs)  # finding
    goals = jax.vmap(make_goal)(goal_keys)
    return rng, jax.vmap(reset)(start_keys, goals)


@jax.jit
def rollout(rng, state):
    def body(carry, _):
        state, rng = carry
        rng, sub = jax.random.split(rng)
        actions = jax.random.randint(sub, (state.t.shape[0],), 0, 4)
        state, reward = jax.vmap(step)(state, actions)
        return (state, rng), reward

    (state, rng), rewards = jax.lax.scan(body, (state, rng), None, length=64)
    return state, rewards


def main():
    rng, state = build_envs(jax.random.PRNGKey(0), 128)
    distance = jnp.abs(state.agent - state.goal).sum(axis=1)
    _, rewards = rollout(rng, state)
    print("mean start distance", float(distance.mean()))
    print("success", float((rewards.max(axis=0) > 0).mean()))


if __name__ == "__main__":
    main()
