"""DQN with a replay buffer of NumPy transitions, a dueling linen network and soft updates."""

import random
from collections import deque

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax


class MountainCart:
    """A cart between two hills; pushing right at the right time gets it out."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.x, self.v, self.steps = 0.0, 0.0, 0

    def reset(self):
        self.x, self.v, self.steps = self.rng.uniform(-0.6, -0.4), 0.0, 0
        return np.array([self.x, self.v * 10])

    def step(self, action):
        self.v += (action - 1) * 0.004 - 0.0025 * np.cos(3 * self.x)
        self.v = float(np.clip(self.v, -0.07, 0.07))
        self.x = float(np.clip(self.x + self.v, -1.2, 0.6))
        self.steps += 1
        done = self.x >= 0.45
        reward = 1.0 if done else -0.01 + 0.1 * abs(self.v)
        return np.array([self.x, self.v * 10]), reward, done or self.steps >= 60, done


class QNetwork(nn.Module):
    actions: int

    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(48)(x))
        x = nn.relu(nn.Dense(48)(x))
        value = nn.Dense(1)(x)
        advantage = nn.Dense(self.actions)(x)
        return value + advantage - advantage.mean(axis=-1, keepdims=True)


class ReplayBuffer:
    def __init__(self, capacity):
        self.items = deque(maxlen=capacity)

    def add(self, *transition):
        self.items.append(transition)

    def sample(self, rng, size):
        chosen = rng.sample(range(len(self.items)), size)
        columns = zip(*[self.items[i] for i in chosen])
        return [np.stack(column) for column in columns]


class Agent:
    def __init__(self, gamma=0.98, tau=0.02, lr=2e-3):
        self.net = QNetwork(3)
        self.gamma = gamma
        self.tau = tau
        self.params = self.net.init(jax.random.PRNGKey(0), jnp.zeros((1, 2)))
        self.target = self.params
        self.optimizer = optax.adam(lr)
        self.opt_state = self.optimizer.init(self.params)

    def act(self, obs, epsilon, rng):
        if rng.random() < epsilon:
            return rng.randrange(3)
        q = self.net.apply(self.params, jnp.array(obs)[None])
        return int(jnp.argmax(q[0]))

    def loss(self, params, target, obs, action, reward, next_obs, done):
        q = self.net.apply(params, obs)
        q = jnp.take_along_axis(q, action[:, None], axis=1)[:, 0]
        best = jnp.argmax(self.net.apply(params, next_obs), axis=1)
        next_q = self.net.apply(target, next_obs)
        next_q = jnp.take_along_axis(next_q, best[:, None], axis=1)[:, 0]
        goal = reward + self.gamma * (1.0 - done) * next_q
        return optax.huber_loss(q, jax.lax.stop_gradient(goal)).mean()

    def learn(self, batch):
        loss, grads = jax.value_and_grad(self.loss)(self.params, self.target, *batch)
        updates, self.opt_state = self.optimizer.update(grads, self.opt_state)
        self.params = optax.apply_updates(self.params, updates)
        self.target = jax.tree.map(
            lambda t, p: (1 - self.tau) * t + self.tau * p, self.target, self.params
        )
        return float(loss)


def main():
    env = MountainCart(0)
    rng = random.Random(0)
    agent = Agent()
    buffer = ReplayBuffer(2000)
    total = 0
    for episode in range(4):
        obs = env.reset()
        losses, score, over = [], 0.0, False
        while not over:
            action = agent.act(obs, max(0.1, 1.0 - total / 150), rng)
            next_obs, reward, over, done = env.step(action)
            buffer.add(obs, np.int32(action), np.float32(reward), next_obs, np.float32(done))
            obs = next_obs
            score += reward
            total += 1
            if total > 64 and total % 4 == 0:
                losses.append(agent.learn(buffer.sample(rng, 32)))
        if losses:
            print(f"episode {episode}: steps {env.steps} score {score:.3f} loss {np.mean(losses):.4f}")


if __name__ == "__main__":
    main()
