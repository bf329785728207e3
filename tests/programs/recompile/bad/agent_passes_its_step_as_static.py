# source: mlaux1/rl-blox#157
# blind: fourth

import dataclasses
from functools import partial

import jax
import jax.numpy as jnp


@dataclasses.dataclass
class AgentState:
    params: dict
    updates: int = 0


@partial(jax.jit, static_argnames=("n_updates", "period"))
def polyak_or_copy(params, target, n_updates, period):
    if n_updates % period == 0:
        return params
    return jax.tree.map(lambda t, p: 0.99 * t + 0.01 * p, target, params)


@jax.jit
def sgd(params, obs, ret):
    grads = jax.grad(lambda p: jnp.mean((obs @ p["w"] - ret) ** 2))(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


class Agent:
    def __init__(self, dim):
        self.state = AgentState({"w": jnp.zeros(dim)})
        self.target = self.state.params

    def update(self, obs, ret):
        params = sgd(self.state.params, obs, ret)
        self.state = AgentState(params, self.state.updates + 1)
        self.target = polyak_or_copy(params, self.target, n_updates=self.state.updates, period=100)  # finding


def run(episodes=50):
    agent = Agent(4)
    for i in range(episodes):
        obs = jnp.ones((16, 4)) * (i % 3)
        agent.update(obs, jnp.ones(16))  # finding-also
    return agent.target


if __name__ == "__main__":
    print(run())
