"""A double DQN that learns how much to order for a small shop.

The shop sells one perishable product; the demand has a weekly season. The
environment is plain NumPy with a gym-like interface.
"""
from collections import deque
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
        return np.array([self.fresh / 10, self.old / 10, self.on_way / 10, np.sin(angle), np.cos(angle)])

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


class Agent:
    def __init__(self, cfg):
        self.cfg = cfg
        key = jax.random.PRNGKey(cfg.seed)
        self.key, sub = jax.random.split(key)
        self.params = init_params(sub, (5, cfg.hidden, cfg.hidden, len(cfg.order_sizes)))
        self.target = self.params
        self.optimizer = optax.adam(cfg.lr, eps=1e-4)
        self.opt_state = self.optimizer.init(self.params)
        self.replay = deque(maxlen=5000)
        self.rng = np.random.default_rng(cfg.seed)

    def act(self, obs):
        """Boltzmann exploration."""
        self.key, sub = jax.random.split(self.key)
        q = q_values(self.params, jnp.array(obs))
        return int(jax.random.categorical(sub, q / self.cfg.temperature))

    def loss(self, params, target, obs, action, reward, next_obs, done):
        best = jnp.argmax(q_values(params, next_obs), axis=-1)
        q_next = jnp.take_along_axis(q_values(target, next_obs), best[:, None], axis=-1)[:, 0]
        goal = jax.lax.stop_gradient(reward + self.cfg.gamma * (1.0 - done) * q_next)
        q = jnp.take_along_axis(q_values(params, obs), action[:, None], axis=-1)[:, 0]
        return optax.huber_loss(q, goal).mean()

    def learn(self):
        picks = self.rng.integers(0, len(self.replay), self.cfg.batch)
        batch = [self.replay[i] for i in picks]
        obs, action, reward, next_obs, done = (jnp.array(np.array(column)) for column in zip(*batch))
        loss, grads = jax.value_and_grad(self.loss)(
            self.params, self.target, obs, action, reward, next_obs, done.astype(jnp.float32))
        updates, self.opt_state = self.optimizer.update(grads, self.opt_state)
        self.params = optax.apply_updates(self.params, updates)
        for old, new in zip(self.target, self.params):
            for name in ("w", "b"):
                old[name] = (1 - self.cfg.tau) * old[name] + self.cfg.tau * new[name]
        return float(loss)


def main(cfg):
    agent = Agent(cfg)
    agent.target = [dict(layer) for layer in agent.params]
    env = ShopEnv(cfg.order_sizes, cfg.episode_days, np.random.default_rng(cfg.seed + 1))
    returns, losses = [], []
    for episode in range(cfg.episodes):
        obs, done, total = env.reset(), False, 0.0
        while not done:
            action = agent.act(obs)
            next_obs, reward, done = env.step(action)
            agent.replay.append((obs, action, reward, next_obs, done))
            obs = next_obs
            total += reward
            if len(agent.replay) >= cfg.warmup and env.day % cfg.learn_every == 0:
                losses.append(agent.learn())
        returns.append(total)
        if (episode + 1) % 8 == 0:
            print(f"episodes {episode - 6}-{episode + 1}: mean profit {10 * np.mean(returns[-8:]):.0f}, "
                  f"loss {np.mean(losses[-50:]):.2f}")
    start = jnp.array(env.reset())
    print("value of the first day:", f"{float(q_values(agent.params, start).max()):.1f}")
    print("best first order:", cfg.order_sizes[int(jnp.argmax(q_values(agent.params, start)))])


if __name__ == "__main__":
    main(CFG)
