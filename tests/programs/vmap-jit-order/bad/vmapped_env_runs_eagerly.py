# source: dunnolab/xland-minigrid#17
# blind: first

import jax
import jax.numpy as jnp


def env_step(state, action):
    pos, vel = state
    force = 0.001 * (action - 1)
    vel = jnp.clip(vel + force - 0.0025 * jnp.cos(3 * pos), -0.07, 0.07)
    pos = jnp.clip(pos + vel, -1.2, 0.6)
    return (pos, vel), jnp.where(pos > 0.5, 1.0, -1.0)


def rollout(key, n_envs, n_steps):
    state = (jnp.full(n_envs, -0.5), jnp.zeros(n_envs))
    total = jnp.zeros(n_envs)
    step = jax.vmap(env_step)
    for k in jax.random.split(key, n_steps):
        actions = jax.random.randint(k, (n_envs,), 0, 3)
        state, reward = step(state, actions)  # finding
        total = total + reward
    return total


if __name__ == "__main__":
    print(rollout(jax.random.key(0), 64, 200).mean())
