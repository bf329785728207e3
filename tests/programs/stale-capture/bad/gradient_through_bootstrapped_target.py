# source: google-deepmind/rlax#161
# blind: sixteenth

"""Q-learning from replay, plain JAX networks and optax."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import optax


@dataclasses.dataclass(frozen=True)
class Config:
    obs_dim: int = 4
    num_actions: int = 2
    hidden: int = 64
    gamma: float = 0.99
    lr: float = 1e-3
    batch_size: int = 64


class ReplayBuffer:
    def __init__(self, capacity, obs_dim):
        self.obs = np.zeros((capacity, obs_dim), np.float32)
        self.next_obs = np.zeros((capacity, obs_dim), np.float32)
        self.action = np.zeros((capacity,), np.int32)
        self.reward = np.zeros((capacity,), np.float32)
        self.done = np.zeros((capacity,), np.float32)
        self.size, self.ptr, self.capacity = 0, 0, capacity

    def add(self, obs, action, reward, next_obs, done):
        i = self.ptr
        self.obs[i], self.action[i], self.reward[i] = obs, action, reward
        self.next_obs[i], self.done[i] = next_obs, done
        self.ptr = (i + 1) % self.capacity
        self.size = min(self.size + 1, self.capacity)

    def sample(self, rng, n):
        idx = rng.integers(0, self.size, n)
        return self.obs[idx], self.action[idx], self.reward[idx], self.next_obs[idx], self.done[idx]


def init_q(key, cfg):
    k1, k2 = jax.random.split(key)
    return {
        "w1": jax.random.normal(k1, (cfg.obs_dim, cfg.hidden)) * 0.5,
        "b1": jnp.zeros(cfg.hidden),
        "w2": jax.random.normal(k2, (cfg.hidden, cfg.num_actions)) * 0.1,
        "b2": jnp.zeros(cfg.num_actions),
    }


def q_values(params, obs):
    h = jax.nn.relu(obs @ params["w1"] + params["b1"])
    return h @ params["w2"] + params["b2"]


def make_update(cfg):
    optimizer = optax.adam(cfg.lr)

    def td_loss(params, batch):
        obs, action, reward, next_obs, done = batch
        q = jnp.take_along_axis(q_values(params, obs), action[:, None], axis=1)[:, 0]
        next_q = q_values(params, next_obs).max(axis=1)  # finding-also
        target = reward + cfg.gamma * (1.0 - done) * next_q  # finding-also
        return jnp.mean(optax.huber_loss(q, target))  # finding

    @jax.jit
    def update(params, opt_state, batch):
        loss, grads = jax.value_and_grad(td_loss)(params, batch)
        updates, opt_state = optimizer.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state, loss

    return optimizer, update


def main():
    cfg = Config()
    rng = np.random.default_rng(0)
    buffer = ReplayBuffer(10_000, cfg.obs_dim)
    for _ in range(500):
        buffer.add(rng.normal(size=4), rng.integers(2), rng.normal(), rng.normal(size=4), rng.random() < 0.1)
    params = init_q(jax.random.PRNGKey(0), cfg)
    optimizer, update = make_update(cfg)
    opt_state = optimizer.init(params)
    for step in range(300):
        params, opt_state, loss = update(params, opt_state, buffer.sample(rng, cfg.batch_size))
    print(float(loss))


if __name__ == "__main__":
    main()
