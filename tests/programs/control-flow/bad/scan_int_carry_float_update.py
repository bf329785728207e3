# source: jax-ml/jax#22045

import jax
import jax.numpy as jnp


def discounted_returns(rewards, gamma):
    def body(total, reward):
        total = reward + gamma * total
        return total, total

    _, returns = jax.lax.scan(body, jnp.zeros((), jnp.int32), rewards, reverse=True)  # finding
    return returns


def policy_loss(params, obs, actions, rewards):
    logits = obs @ params
    logp = jax.nn.log_softmax(logits)[jnp.arange(actions.shape[0]), actions]
    return -jnp.mean(logp * discounted_returns(rewards, 0.99))


grad = jax.jit(jax.grad(policy_loss))
print(grad(jnp.ones((3, 2)), jnp.ones((6, 3)), jnp.array([0, 1, 0, 1, 0, 1]), jnp.ones(6)))
