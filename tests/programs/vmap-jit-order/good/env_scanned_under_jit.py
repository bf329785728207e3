# source: dunnolab/xland-minigrid#17
# blind: first

from functools import partial

import jax
import jax.numpy as jnp


def env_step(state, action):
    pos, vel = state
    vel = jnp.clip(vel + 0.001 * (action - 1) - 0.0025 * jnp.cos(3 * pos), -0.07, 0.07)
    pos = jnp.clip(pos + vel, -1.2, 0.6)
    return (pos, vel), jnp.where(pos > 0.5, 1.0, -1.0)


@partial(jax.jit, static_argnames=("n_envs", "n_steps"))
def rollout(key, n_envs, n_steps):
    state = (jnp.full(n_envs, -0.5), jnp.zeros(n_envs))

    def body(state, k):
        return jax.vmap(env_step)(state, jax.random.randint(k, (n_envs,), 0, 3))

    return jax.lax.scan(body, state, jax.random.split(key, n_steps))[1].sum(0)


if __name__ == "__main__":
    print(rollout(jax.random.key(0), 64, 200).mean())
