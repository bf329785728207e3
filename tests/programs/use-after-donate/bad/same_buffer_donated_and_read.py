# source: jax-ml/jax#9675

import jax
import jax.numpy as jnp
import optax

tx = optax.sgd(1e-2)


def q_fn(params, obs):
    return jax.nn.relu(obs @ params["w"]) @ params["v"]


def _learn(params, target_params, opt_state, obs, reward):
    def loss(p):
        target = reward + 0.99 * q_fn(target_params, obs).max(-1)
        return jnp.mean((q_fn(p, obs).max(-1) - target) ** 2)

    grads = jax.grad(loss)(params)
    updates, opt_state = tx.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state


class Agent:
    def __init__(self, params):
        self.params = params
        self.target_params = params  # finding-also
        self.opt_state = tx.init(params)
        self.learn = jax.jit(_learn, donate_argnums=(0,))

    def update(self, obs, reward):
        self.params, self.opt_state = self.learn(  # finding
            self.params, self.target_params, self.opt_state, obs, reward  # finding-also
        )


if __name__ == "__main__":
    agent = Agent({"w": jnp.ones((3, 4)), "v": jnp.ones((4, 2))})
    for _ in range(2):
        agent.update(jnp.ones((5, 3)), jnp.ones(5))
    print(agent.params["v"])
