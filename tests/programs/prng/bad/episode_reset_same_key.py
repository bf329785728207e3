# source: anthonytorlucci/rlevo#104

import jax
import jax.numpy as jnp


def reset(key):
    return jax.random.uniform(key, (4,), minval=-0.05, maxval=0.05)


def policy(params, obs):
    return jnp.tanh(obs @ params)


def run_episode(params, key, length=10):
    obs = reset(key)

    def body(obs, _):
        action = policy(params, obs)
        obs = obs + 0.1 * action
        return obs, -jnp.sum(obs**2)

    _, rewards = jax.lax.scan(body, obs, None, length=length)
    return rewards.sum()


evaluate_one = jax.jit(run_episode, static_argnames="length")


def evaluate(params, n_episodes, seed=0):
    rng = jax.random.PRNGKey(seed)
    returns = []
    for _ in range(n_episodes):
        returns.append(evaluate_one(params, rng))  # finding
    returns = jnp.stack(returns)
    return returns.mean(), returns.std()


if __name__ == "__main__":
    print(evaluate(jnp.eye(4), 5))
