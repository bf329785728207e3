# source: RobertTLange/gymnax#93
# blind: eighteenth

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp


class AgentState(NamedTuple):
    params: dict
    target_params: dict
    step: jax.Array


def init_agent(key, obs_dim, n_actions):
    params = {"w": 0.1 * jax.random.normal(key, (obs_dim, n_actions)), "b": jnp.zeros(n_actions)}
    target = jax.tree_util.tree_map(jnp.copy, params)
    return AgentState(params, target, jnp.zeros((), jnp.int32))


def polyak(target, online, tau=0.005):
    return jax.tree_map(lambda t, o: (1 - tau) * t + tau * o, target, online)  # finding


@functools.partial(jax.jit, donate_argnums=0)
def learn(state, obs, returns):
    def loss_fn(p):
        q = (obs @ p["w"] + p["b"]).max(axis=-1)
        return jnp.mean((q - returns) ** 2)

    grads = jax.grad(loss_fn)(state.params)
    params = jax.tree.map(lambda p, g: p - 0.1 * g, state.params, grads)
    return AgentState(params, polyak(state.target_params, params), state.step + 1)


if __name__ == "__main__":
    state = init_agent(jax.random.key(0), 4, 2)
    for _ in range(3):
        state = learn(state, jnp.ones((8, 4)), jnp.ones(8))
    print(state.step)
