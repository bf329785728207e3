# source: jax-ml/jax#1897
# blind: fifth

import jax
import jax.numpy as jnp


@jax.jit
def discounted_returns(rewards, dones, gamma):
    returns = jnp.zeros_like(rewards)
    running = 0.0
    for t in reversed(range(rewards.shape[0])):  # finding
        running = rewards[t] + gamma * running * (1.0 - dones[t])
        returns = returns.at[t].set(running)
    return returns


def policy_loss(log_probs, rewards, dones):
    returns = discounted_returns(rewards, dones, 0.99)
    advantages = (returns - returns.mean()) / (returns.std() + 1e-8)
    return -jnp.mean(log_probs * jax.lax.stop_gradient(advantages))


if __name__ == "__main__":
    rewards = jnp.ones(200)
    dones = jnp.zeros(200).at[99].set(1.0)
    print(policy_loss(jnp.zeros(200), rewards, dones))
