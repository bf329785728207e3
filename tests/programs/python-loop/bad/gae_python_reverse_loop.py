# source: ikostrikov/jaxrl#22

import jax
import jax.numpy as jnp


@jax.jit
def gae(rewards, values, dones, gamma=0.99, lam=0.95):
    advantages = jnp.zeros_like(rewards)
    last = 0.0
    for t in reversed(range(rewards.shape[0])):  # finding
        alive = 1.0 - dones[t]
        delta = rewards[t] + gamma * values[t + 1] * alive - values[t]
        last = delta + gamma * lam * alive * last
        advantages = advantages.at[t].set(last)  # finding-also
    return advantages, advantages + values[:-1]


if __name__ == "__main__":
    n = 256
    print(gae(jnp.ones(n), jnp.zeros(n + 1), jnp.zeros(n))[0][:3])
