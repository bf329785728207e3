# source: jax-ml/jax#9635
# blind: second

from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax


class Agent(NamedTuple):
    online: dict
    target: dict
    opt_state: optax.OptState


TX = optax.adam(1e-3)


def create(key):
    online = {"w": jax.random.normal(key, (4, 3)), "b": jnp.zeros(3)}
    return Agent(online=online, target=online, opt_state=TX.init(online))  # finding-also


def q_values(params, obs):
    return obs @ params["w"] + params["b"]


def td_error(online, target, obs, next_obs, reward):
    bootstrap = reward + 0.99 * q_values(target, next_obs).max(-1)
    return jnp.mean((q_values(online, obs).max(-1) - jax.lax.stop_gradient(bootstrap)) ** 2)


def learn(agent, obs, next_obs, reward):
    grads = jax.grad(td_error)(agent.online, agent.target, obs, next_obs, reward)
    updates, opt_state = TX.update(grads, agent.opt_state)
    online = optax.apply_updates(agent.online, updates)
    target = optax.incremental_update(online, agent.target, 0.01)
    return Agent(online, target, opt_state)


def main():
    step = jax.jit(learn, donate_argnums=0)
    agent = create(jax.random.key(0))
    obs = jnp.ones((8, 4))
    for _ in range(3):
        agent = step(agent, obs, obs + 1, jnp.ones(8))  # finding
    print(agent.target["b"])


if __name__ == "__main__":
    main()
