# source: elodin-sys/elodin#444
# blind: nineteenth
# missed: what a branch costs that is mapped

import functools
import time
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

SIZE, EPISODE = 24, 25


class HikerState(NamedTuple):
    terrain: jax.Array
    pos: jax.Array
    t: jax.Array


def make_terrain(key):
    rough = jax.random.normal(key, (SIZE, SIZE))

    def smooth(_, h):
        return 0.2 * (h + jnp.roll(h, 1, 0) + jnp.roll(h, -1, 0) + jnp.roll(h, 1, 1) + jnp.roll(h, -1, 1))

    h = lax.fori_loop(0, 60, smooth, rough)
    return (h - h.mean()) / h.std()


def fresh_state(key):
    k_map, k_pos = jax.random.split(key)
    return HikerState(make_terrain(k_map), jax.random.randint(k_pos, (2,), 0, SIZE), jnp.int32(0))


def move(state, action):
    delta = jnp.array([[0, 1], [0, -1], [1, 0], [-1, 0]])[action]
    pos = (state.pos + delta) % SIZE
    climb = state.terrain[pos[0], pos[1]] - state.terrain[state.pos[0], state.pos[1]]
    return state._replace(pos=pos, t=state.t + 1), climb


def env_step(state, inputs):
    action, key = inputs
    state, reward = move(state, action)
    done = state.t >= EPISODE
    state = lax.cond(done, lambda _: fresh_state(key), lambda s: s, state)  # finding
    return state, reward


@functools.partial(jax.jit, static_argnames=("num_envs", "steps"))
def rollout(key, num_envs, steps):
    k_init, k_run = jax.random.split(key)
    states = jax.vmap(fresh_state)(jax.random.split(k_init, num_envs))

    def body(states, k):
        k_act, k_reset = jax.random.split(k)
        actions = jax.random.randint(k_act, (num_envs,), 0, 4)
        states, rewards = jax.vmap(env_step)(states, (actions, jax.random.split(k_reset, num_envs)))  # finding-also
        return states, rewards.mean()

    return lax.scan(body, states, jax.random.split(k_run, steps))


def main():
    jax.block_until_ready(rollout(jax.random.key(0), 32, 100))
    start = time.perf_counter()
    states, rewards = jax.block_until_ready(rollout(jax.random.key(1), 32, 100))
    print("mean climb", float(rewards.mean()), "seconds", round(time.perf_counter() - start, 4))


if __name__ == "__main__":
    main()
