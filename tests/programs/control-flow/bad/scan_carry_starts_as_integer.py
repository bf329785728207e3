# source: jax-ml/jax#1686
# blind: sixth

"""Discounted returns, newest last."""
import jax
import jax.numpy as jnp


def discounted(rewards, dones, gamma=0.99):
    def back(ret, inputs):
        reward, done = inputs
        ret = reward + gamma * ret * (1.0 - done)
        return ret, ret

    _, returns = jax.lax.scan(back, jnp.zeros((), jnp.int32), (rewards, dones), reverse=True)  # finding
    return returns


@jax.jit
def policy_loss(logp, rewards, dones):
    returns = discounted(rewards, dones)
    advantage = (returns - returns.mean()) / (returns.std() + 1e-6)
    return -jnp.mean(logp * jax.lax.stop_gradient(advantage))


if __name__ == "__main__":
    print(policy_loss(jnp.zeros(5), jnp.ones(5), jnp.zeros(5)))
