# source: google-deepmind/rlax#45
# blind: first

import jax
import jax.numpy as jnp


@jax.jit
def gae(rewards, values, dones, gamma=0.99, lam=0.95):
    advantages = jnp.zeros_like(rewards)
    last = 0.0
    for t in reversed(range(rewards.shape[0])):  # finding
        nonterminal = 1.0 - dones[t]
        delta = rewards[t] + gamma * values[t + 1] * nonterminal - values[t]
        last = delta + gamma * lam * nonterminal * last
        advantages = advantages.at[t].set(last)
    return advantages


if __name__ == "__main__":
    t = 128
    print(gae(jnp.ones(t), jnp.ones(t + 1), jnp.zeros(t)).shape)
