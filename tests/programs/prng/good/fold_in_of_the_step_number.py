# source: google/flax#2593
# blind: eighth

import jax
import jax.numpy as jnp


@jax.jit
def act(params, obs, key):
    k_explore, k_action = jax.random.split(key)
    random_action = jax.random.randint(k_action, (), 0, params.shape[1])
    greedy = jnp.argmax(obs @ params)
    return jnp.where(jax.random.uniform(k_explore) < 0.1, random_action, greedy)


def rollout(params, steps, seed=0):
    base = jax.random.key(seed)
    obs = jnp.ones(params.shape[0])
    actions = []
    for t in range(steps):  # finding-other
        action = act(params, obs, jax.random.fold_in(base, t))
        actions.append(action)
        obs = jnp.roll(obs, 1) * 0.9 + 0.1 * action
    return jnp.stack(actions)


if __name__ == "__main__":
    print(rollout(jnp.eye(4), 10))
