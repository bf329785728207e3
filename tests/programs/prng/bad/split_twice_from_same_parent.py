# source: dunnolab/xland-minigrid#42

import jax
import jax.numpy as jnp


def sample_ruleset(key):
    return jax.random.randint(key, (3,), 0, 10)


def reset_env(key, rules):
    return jax.random.uniform(key, (2,)) + rules[:2]


def make_envs(rng, n_envs):
    rng, _rng1, _rng2 = jax.random.split(rng, num=3)
    ruleset_rng = jax.random.split(rng, num=n_envs)
    reset_rng = jax.random.split(rng, num=n_envs)  # finding
    rules = jax.vmap(sample_ruleset)(ruleset_rng)
    return rng, jax.vmap(reset_env)(reset_rng, rules)


def train(seed, n_envs=4):
    rng, obs = make_envs(jax.random.PRNGKey(seed), n_envs)
    noise = jax.random.normal(rng, obs.shape)
    return obs + noise


if __name__ == "__main__":
    print(train(0))
