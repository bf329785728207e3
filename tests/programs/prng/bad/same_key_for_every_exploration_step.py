# source: jax-ml/jax#170
# blind: eighth

import jax
import jax.numpy as jnp


def act(params, obs, key, eps=0.1):
    greedy = jnp.argmax(obs @ params)
    k_explore, k_action = jax.random.split(key)
    random_action = jax.random.randint(k_action, (), 0, params.shape[1])
    return jnp.where(jax.random.uniform(k_explore) < eps, random_action, greedy)


def rollout(params, steps, seed=0):
    key = jax.random.PRNGKey(seed)
    obs = jnp.ones(params.shape[0])
    actions = []
    for _ in range(steps):
        action = act(params, obs, key)  # finding
        actions.append(action)
        obs = jnp.roll(obs, 1) * 0.9 + 0.1 * action
    return jnp.stack(actions)


if __name__ == "__main__":
    print(rollout(jnp.eye(4), 10))
