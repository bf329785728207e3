# source: dunnolab/xland-minigrid#42
# blind: fifth

import jax
import jax.numpy as jnp


def sample_ruleset(key):
    return jax.random.randint(key, (4,), 0, 16)


def reset_env(key, ruleset):
    agent = jax.random.randint(key, (2,), 0, 9)
    return {"agent": agent, "ruleset": ruleset, "t": jnp.int32(0)}


def init_meta_task(rng, num_envs):
    rng, _rng1, _rng2 = jax.random.split(rng, num=3)
    ruleset_keys = jax.random.split(rng, num=num_envs)  # finding-also
    reset_keys = jax.random.split(rng, num=num_envs)  # finding
    rulesets = jax.vmap(sample_ruleset)(ruleset_keys)
    states = jax.vmap(reset_env)(reset_keys, rulesets)
    return rng, states


def main():
    rng = jax.random.key(7)
    rng, states = init_meta_task(rng, 8)
    print(states["agent"])


if __name__ == "__main__":
    main()
