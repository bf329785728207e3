# blind: eighteenth

import functools

import jax
import jax.numpy as jnp


def init_q(key, obs_dim, n_actions):
    return {"w": 0.1 * jax.random.normal(key, (obs_dim, n_actions)), "b": jnp.zeros(n_actions)}


def q_values(params, obs):
    return obs @ params["w"] + params["b"]


@functools.partial(jax.jit, static_argnames=("n_actions", "epsilon"))  # finding
def act(params, obs, key, epsilon, n_actions):  # finding-also
    k_explore, k_action = jax.random.split(key)
    greedy = jnp.argmax(q_values(params, obs), axis=-1)
    random = jax.random.randint(k_action, greedy.shape, 0, n_actions)
    explore = jax.random.uniform(k_explore, greedy.shape) < epsilon
    return jnp.where(explore, random, greedy)


def epsilon_at(step, start=1.0, end=0.05, decay=200):
    return end + (start - end) * max(0.0, 1.0 - step / decay)


def main(steps=8):
    params = init_q(jax.random.key(0), 4, 3)
    key = jax.random.key(1)
    obs = jnp.ones((2, 4))
    for step in range(steps):
        key, sub = jax.random.split(key)
        actions = act(params, obs, sub, epsilon=epsilon_at(step), n_actions=3)  # finding-also
        obs = jnp.roll(obs, 1, axis=-1) + 0.01 * actions[:, None]
    print(actions, obs)


if __name__ == "__main__":
    main()
