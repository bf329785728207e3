"""Double DQN with a dueling head on a small battery/microgrid simulator, averaged over seeds."""
import random
from collections import deque, namedtuple

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training.train_state import TrainState

Transition = namedtuple("Transition", "obs action reward next_obs done")

CONFIG = {
    "episodes": 5,
    "horizon": 60,
    "batch_size": 64,
    "buffer": 5000,
    "learn_start": 120,
    "gamma": 0.95,
    "tau": 0.02,
    "lr": 1e-3,
    "eps_start": 1.0,
    "eps_end": 0.1,
    "eps_decay": 300,
    "eval_episodes": 2,
    "seeds": [0, 1],
}


class Microgrid:
    """A battery between a solar panel, a household and a market with a daily price."""

    n_actions = 3  # discharge, wait, charge

    def __init__(self, horizon, seed):
        self.horizon = horizon
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.t = 0
        self.charge = self.rng.uniform(0.2, 0.8)
        self.demand = 0.5
        return self._observe()

    def _price(self):
        return 1.0 + 0.6 * np.sin(2 * np.pi * self.t / 24.0)

    def _solar(self):
        return max(0.0, np.sin(2 * np.pi * (self.t - 6) / 24.0))

    def _observe(self):
        phase = 2 * np.pi * self.t / 24.0
        return np.array([self.charge, self.demand, np.sin(phase), np.cos(phase), self._solar()])

    def step(self, action):
        flow = 0.15 * (action - 1)
        flow = np.clip(flow, -self.charge, 1.0 - self.charge)
        self.charge += flow * (0.95 if flow > 0 else 1.0)
        net = self.demand - 0.4 * self._solar() + flow
        reward = -self._price() * max(net, 0.0) + 0.3 * max(-net, 0.0)
        self.demand = np.clip(self.demand + 0.1 * self.rng.normal(), 0.1, 0.9)
        self.t += 1
        return self._observe(), reward, self.t >= self.horizon


class ReplayBuffer:
    def __init__(self, capacity, seed):
        self.storage = deque(maxlen=capacity)
        self.rng = random.Random(seed)

    def add(self, *args):
        self.storage.append(Transition(*args))

    def sample(self, n):
        batch = Transition(*zip(*self.rng.sample(self.storage, n)))
        return {
            "obs": np.asarray(batch.obs, np.float32),
            "action": np.asarray(batch.action, np.int32),
            "reward": np.asarray(batch.reward, np.float32),
            "next_obs": np.asarray(batch.next_obs, np.float32),
            "done": np.asarray(batch.done, np.float32),
        }

    def __len__(self):
        return len(self.storage)


class DuelingNet(nn.Module):
    n_actions: int
    hidden: int = 48

    @nn.compact
    def __call__(self, x):
        for _ in range(2):
            x = nn.tanh(nn.Dense(self.hidden)(x))
        value = nn.Dense(1)(x)
        advantage = nn.Dense(self.n_actions)(x)
        return value + advantage - advantage.mean(axis=-1, keepdims=True)


NET = DuelingNet(Microgrid.n_actions)
TX = optax.chain(optax.clip_by_global_norm(5.0), optax.adam(CONFIG["lr"]))


@jax.jit
def q_values(params, obs):
    return NET.apply(params, obs[None])[0]


@jax.jit
def init_state(key, obs):
    return TrainState.create(apply_fn=NET.apply, params=NET.init(key, obs), tx=TX)


def loss_fn(params, target_params, batch):
    q = NET.apply(params, batch["obs"])
    q_taken = jnp.take_along_axis(q, batch["action"][:, None], axis=1)[:, 0]
    best = NET.apply(params, batch["next_obs"]).argmax(axis=1)
    q_next = NET.apply(target_params, batch["next_obs"])
    q_next = jnp.take_along_axis(q_next, best[:, None], axis=1)[:, 0]
    target = batch["reward"] + CONFIG["gamma"] * (1.0 - batch["done"]) * q_next
    return optax.huber_loss(q_taken, jax.lax.stop_gradient(target)).mean()


@jax.jit
def update(state, target_params, batch):
    loss, grads = jax.value_and_grad(loss_fn)(state.params, target_params, batch)
    state = state.apply_gradients(grads=grads)
    target_params = optax.incremental_update(state.params, target_params, CONFIG["tau"])
    return state, target_params, loss


class Agent:
    def __init__(self, obs_dim, n_actions, cfg, seed):
        self.cfg = cfg
        self.n_actions = n_actions
        self.rng = np.random.default_rng(seed + 100)
        self.state = init_state(jax.random.PRNGKey(seed), np.zeros((1, obs_dim), np.float32))
        self.target_params = self.state.params
        self.steps = 0

    def epsilon(self):
        c = self.cfg
        frac = np.exp(-self.steps / c["eps_decay"])
        return c["eps_end"] + (c["eps_start"] - c["eps_end"]) * frac

    def act(self, obs, greedy=False):
        if not greedy:
            self.steps += 1
            if self.rng.random() < self.epsilon():
                return int(self.rng.integers(self.n_actions))
        return int(np.argmax(q_values(self.state.params, obs.astype(np.float32))))

    def learn(self, batch):
        self.state, self.target_params, loss = update(self.state, self.target_params, batch)
        return loss


def run_episode(env, agent, buffer=None):
    obs, done, total, losses = env.reset(), False, 0.0, []
    while not done:
        action = agent.act(obs, greedy=buffer is None)
        next_obs, reward, done = env.step(action)
        total += reward
        if buffer is not None:
            buffer.add(obs, action, reward, next_obs, done)
            if len(buffer) >= agent.cfg["learn_start"]:
                losses.append(agent.learn(buffer.sample(agent.cfg["batch_size"])))
        obs = next_obs
    return total, losses


def main():
    for seed in CONFIG["seeds"]:
        env = Microgrid(CONFIG["horizon"], seed)
        agent = Agent(5, env.n_actions, CONFIG, seed)
        buffer = ReplayBuffer(CONFIG["buffer"], seed)
        losses, returns = [], []
        for _ in range(CONFIG["episodes"]):
            total, ep_losses = run_episode(env, agent, buffer)
            returns.append(total)
            losses.extend(ep_losses)
        test_env = Microgrid(CONFIG["horizon"], 1000)
        score = np.mean([run_episode(test_env, agent)[0] for _ in range(CONFIG["eval_episodes"])])
        print(f"seed {seed}: train return {np.mean(returns[-4:]):.2f} loss {np.mean(jax.device_get(losses[-50:])):.4f} test return {score:.2f}")


if __name__ == "__main__":
    main()
