# source: dunnolab/xland-minigrid#17
# blind: eighth

import jax
import jax.numpy as jnp


def reset(key):
    pos_key, goal_key = jax.random.split(key)
    return jax.random.uniform(pos_key, (2,)), jax.random.uniform(goal_key, (2,))


def make_batch(seed, n_envs):
    key = jax.random.PRNGKey(seed)
    keys = jnp.stack([key] * n_envs)  # finding
    return jax.vmap(reset)(keys)  # finding-also


if __name__ == "__main__":
    print(make_batch(0, 3)[0])
