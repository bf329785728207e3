# blind: ninth

from functools import partial

import jax
import jax.numpy as jnp


def policy(params, obs):
    return jnp.tanh(params["w"] @ obs + params["b"])


def dynamics(obs, action):
    return 0.99 * obs + 0.1 * jnp.concatenate([action, action])


def rewards_of(params, obs, horizon):
    rewards = []
    for t in range(horizon):  # finding
        action = policy(params, obs)
        obs = dynamics(obs, action)
        rewards.append(0.95**t * -jnp.sum(obs**2))
    return jnp.stack(rewards)


@partial(jax.jit, static_argnames="horizon")
def policy_gradient(params, obs, horizon):
    return jax.grad(lambda p: -rewards_of(p, obs, horizon).sum())(params)


def main():
    params = {"w": jnp.ones((2, 4)) * 0.1, "b": jnp.zeros(2)}
    return policy_gradient(params, jnp.ones(4), horizon=400)


if __name__ == "__main__":
    print(main()["b"])
