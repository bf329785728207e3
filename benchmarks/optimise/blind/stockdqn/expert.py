"""A double DQN that learns how much to order for a small shop.

The shop sells one perishable product; the demand has a weekly season. The
environment is plain NumPy with a gym-like interface.
"""
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import optax

CFG = SimpleNamespace(
    order_sizes=(0, 4, 8, 12, 16), episode_days=42, episodes=24, hidden=48, gamma=0.9, lr=4e-3,
    tau=0.1, batch=64, warmup=256, learn_every=3, temperature=0.5, seed=11,
)


class ShopEnv:
    """State: fresh stock, old stock, goods on the way, sine and cosine of the weekday."""

    def __init__(self, order_sizes, days, rng):
        self.order_sizes = order_sizes
        self.days = days
        self.rng = rng

    def reset(self):
        self.fresh, self.old, self.on_way, self.day = 8.0, 2.0, 4.0, 0
        return self._observe()

    def _observe(self):
        angle = 2 * np.pi * self.day / 7
        return np.array([self.fresh / 10, self.old / 10, self.on_way / 10, np.sin(angle), np.cos(angle)], np.float32)

    def step(self, action):
        order = self.order_sizes[action]
        demand = self.rng.poisson(7.0 + 3.5 * np.sin(2 * np.pi * self.day / 7))
        sold_old = min(self.old, demand)
        sold_fresh = min(self.fresh, demand - sold_old)
        lost = demand - sold_old - sold_fresh
        wasted = self.old - sold_old
        profit = 3.0 * (sold_old + sold_fresh) - 1.0 * order - 0.5 * wasted - 1.0 * lost - (0.8 if order else 0.0)
        self.old = self.fresh - sold_fresh
        self.fresh, self.on_way = self.on_way, float(order)
        self.day += 1
        return self._observe(), profit / 10.0, self.day >= self.days


def init_params(key, sizes):
    params = []
    for k, (n_in, n_out) in zip(jax.random.split(key, len(sizes) - 1), zip(sizes[:-1], sizes[1:])):
        params.append({"w": jax.random.normal(k, (n_in, n_out)) * jnp.sqrt(2.0 / n_in), "b": jnp.zeros(n_out)})
    return params


def q_values(params, obs):
    h = obs
    for layer in params[:-1]:
        h = jax.nn.relu(h @ layer["w"] + layer["b"])
    return h @ params[-1]["w"] + params[-1]["b"]


class Replay:
    """Preallocated columns in float32. It holds every step of this run, so that nothing is overwritten."""

    def __init__(self, capacity, obs_size):
        self.size = 0
        self.obs, self.next_obs = np.zeros((2, capacity, obs_size), np.float32)
        self.action = np.zeros(capacity, np.int32)
        self.reward, self.done = np.zeros((2, capacity), np.float32)

    def append(self, obs, action, reward, next_obs, done):
        i = self.size
        self.obs[i], self.action[i], self.reward[i], self.next_obs[i], self.done[i] = obs, action, reward, next_obs, done
        self.size += 1

    def sample(self, picks):
        return self.obs[picks], self.action[picks], self.reward[picks], self.next_obs[picks], self.done[picks]


class Agent:
    def __init__(self, cfg):
        self.cfg = cfg
        key = jax.random.PRNGKey(cfg.seed)
        self.key, sub = jax.random.split(key)
        self.params = init_params(sub, (5, cfg.hidden, cfg.hidden, len(cfg.order_sizes)))
        self.target = self.params
        self.optimizer = optax.adam(cfg.lr, eps=1e-4)
        self.opt_state = self.optimizer.init(self.params)
        self.replay = Replay(cfg.episodes * cfg.episode_days, 5)
        self.rng = np.random.default_rng(cfg.seed)
        self._act = jax.jit(self._choose)
        self._learn = jax.jit(self._update)

    def _choose(self, key, params, obs):
        key, sub = jax.random.split(key)
        return key, jax.random.categorical(sub, q_values(params, obs) / self.cfg.temperature)

    def act(self, obs):
        """Boltzmann exploration."""
        self.key, action = self._act(self.key, self.params, obs)
        return int(action)

    def loss(self, params, target, obs, action, reward, next_obs, done):
        best = jnp.argmax(q_values(params, next_obs), axis=-1)
        q_next = jnp.take_along_axis(q_values(target, next_obs), best[:, None], axis=-1)[:, 0]
        goal = jax.lax.stop_gradient(reward + self.cfg.gamma * (1.0 - done) * q_next)
        q = jnp.take_along_axis(q_values(params, obs), action[:, None], axis=-1)[:, 0]
        return optax.huber_loss(q, goal).mean()

    def _update(self, params, target, opt_state, batch):
        loss, grads = jax.value_and_grad(self.loss)(params, target, *batch)
        updates, opt_state = self.optimizer.update(grads, opt_state)
        params = optax.apply_updates(params, updates)
        target = jax.tree.map(lambda old, new: (1 - self.cfg.tau) * old + self.cfg.tau * new, target, params)
        return params, target, opt_state, loss

    def learn(self):
        batch = self.replay.sample(self.rng.integers(0, self.replay.size, self.cfg.batch))
        self.params, self.target, self.opt_state, loss = self._learn(self.params, self.target, self.opt_state, batch)
        return loss


def main(cfg):
    agent = Agent(cfg)
    env = ShopEnv(cfg.order_sizes, cfg.episode_days, np.random.default_rng(cfg.seed + 1))
    returns, losses = [], []
    for episode in range(cfg.episodes):
        obs, done, total = env.reset(), False, 0.0
        while not done:
            action = agent.act(obs)
            next_obs, reward, done = env.step(action)
            agent.replay.append(obs, action, reward, next_obs, done)
            obs = next_obs
            total += reward
            if agent.replay.size >= cfg.warmup and env.day % cfg.learn_every == 0:
                losses.append(agent.learn())
        returns.append(total)
        if (episode + 1) % 8 == 0:
            print(f"episodes {episode - 6}-{episode + 1}: mean profit {10 * np.mean(returns[-8:]):.0f}, "
                  f"loss {np.mean(jax.device_get(losses[-50:])):.2f}")
    q = np.asarray(q_values(agent.params, env.reset()))
    print("value of the first day:", f"{q.max():.1f}")
    print("best first order:", cfg.order_sizes[int(np.argmax(q))])


if __name__ == "__main__":
    main(CFG)
