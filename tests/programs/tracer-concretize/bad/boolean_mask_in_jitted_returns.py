# blind: eighteenth

import functools

import jax
import jax.numpy as jnp


def discounted_returns(rewards, dones, gamma):
    def body(carry, inp):
        r, d = inp
        carry = r + gamma * carry * (1.0 - d)
        return carry, carry

    _, out = jax.lax.scan(body, jnp.zeros(rewards.shape[1:]), (rewards, dones), reverse=True)
    return out


def masked_advantage(returns, values, valid):
    adv = returns - values
    kept = adv[valid > 0]  # finding
    return (adv - kept.mean()) / (kept.std() + 1e-6)


@functools.partial(jax.jit, static_argnames="gamma")
def policy_loss(logp, rewards, dones, values, valid, gamma=0.99):
    returns = discounted_returns(rewards, dones, gamma)
    adv = jax.lax.stop_gradient(masked_advantage(returns, values, valid))
    return -(logp * adv * valid).sum() / valid.sum()


def main():
    steps, envs = 6, 2
    rewards = jnp.ones((steps, envs))
    dones = jnp.zeros((steps, envs)).at[3, 0].set(1.0)
    valid = jnp.ones((steps, envs)).at[5].set(0.0)
    logp = jnp.full((steps, envs), -0.5)
    print(policy_loss(logp, rewards, dones, jnp.zeros_like(rewards), valid))


if __name__ == "__main__":
    main()
