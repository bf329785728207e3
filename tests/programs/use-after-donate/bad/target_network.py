# source: jax-ml/jax#3412
# blind: twentieth

"""Q-learning with a periodically refreshed target network."""
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import optax


@dataclass(frozen=True)
class Config:
    obs: int = 4
    actions: int = 3
    hidden: int = 32
    gamma: float = 0.95
    refresh: int = 10
    steps: int = 50
    batch: int = 64


def init_params(cfg, key):
    k1, k2 = jax.random.split(key)
    return {
        "w1": jax.random.normal(k1, (cfg.obs, cfg.hidden)) * cfg.obs**-0.5,
        "b1": jnp.zeros(cfg.hidden),
        "w2": jax.random.normal(k2, (cfg.hidden, cfg.actions)) * cfg.hidden**-0.5,
    }


def q_values(params, obs):
    return jax.nn.relu(obs @ params["w1"] + params["b1"]) @ params["w2"]


def make_update(cfg, tx):
    def loss_fn(params, target, batch):
        obs, action, reward, nxt = batch
        q = jnp.take_along_axis(q_values(params, obs), action[:, None], axis=1)[:, 0]
        goal = reward + cfg.gamma * q_values(target, nxt).max(axis=1)
        return jnp.mean((q - jax.lax.stop_gradient(goal)) ** 2)

    @partial(jax.jit, donate_argnums=(0, 1))  # finding-also
    def update(params, opt_state, target, batch):  # finding-also
        loss, grads = jax.value_and_grad(loss_fn)(params, target, batch)
        updates, opt_state = tx.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state, loss

    return update


@dataclass
class Agent:
    params: Any
    opt_state: Any
    target: Any = None

    def refresh_target(self):
        self.target = self.params  # finding


@partial(jax.jit, static_argnames="cfg")
def fake_batch(key, cfg):
    k_obs, k_act, k_next = jax.random.split(key, 3)
    obs = jax.random.normal(k_obs, (cfg.batch, cfg.obs))
    action = jax.random.randint(k_act, (cfg.batch,), 0, cfg.actions)
    nxt = obs + 0.1 * jax.random.normal(k_next, obs.shape)
    return obs, action, -jnp.abs(nxt[:, 0]), nxt


def main():
    cfg = Config()
    key, k_init = jax.random.split(jax.random.key(0))
    tx = optax.adam(1e-3)
    params = init_params(cfg, k_init)
    agent = Agent(params, tx.init(params))
    update = make_update(cfg, tx)
    for step in range(cfg.steps):
        if step % cfg.refresh == 0:
            agent.refresh_target()  # finding-also
        key, sub = jax.random.split(key)
        batch = fake_batch(sub, cfg)
        agent.params, agent.opt_state, loss = update(  # finding-also
            agent.params, agent.opt_state, agent.target, batch  # finding-also
        )
    print("loss", float(loss))


if __name__ == "__main__":
    main()
