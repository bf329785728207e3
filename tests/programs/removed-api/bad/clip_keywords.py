# source: jax-ml/jax#11706

import jax
import jax.numpy as jnp


class PPO:
    def __init__(self, epsilon=0.2):
        self.epsilon = epsilon

    def surrogate(self, ratio, advantage):
        clipped = jnp.clip(ratio, a_min=1 - self.epsilon, a_max=1 + self.epsilon)  # finding
        return -jnp.minimum(ratio * advantage, clipped * advantage).mean()

    def loss(self, params, obs, actions, old_logp, advantage):
        logp = jax.nn.log_softmax(obs @ params)[jnp.arange(actions.shape[0]), actions]
        return self.surrogate(jnp.exp(logp - old_logp), advantage)


agent = PPO()
grad = jax.jit(jax.grad(agent.loss))
print(grad(jnp.ones((3, 2)), jnp.ones((4, 3)), jnp.array([0, 1, 0, 1]), jnp.zeros(4), jnp.ones(4)))
