"""Double DQN in a maze that is written in Python, with a replay memory of tuples.

The expert compiles the choice of an action and the whole update, and fetches losses at the end of an episode.
"""

import functools
import random
from collections import deque

import jax
import jax.numpy as jnp
import numpy as np
import optax

MOVES = [(0, 1), (1, 0), (0, -1), (-1, 0)]


class Maze:
    def __init__(self, size, walls, seed):
        self.size = size
        self.rng = random.Random(seed)
        cells = [(i, j) for i in range(size) for j in range(size) if (i, j) not in ((0, 0), (size - 1, size - 1))]
        self.walls = set(self.rng.sample(cells, walls))

    def reset(self):
        self.position = (0, 0)
        self.time = 0
        return self.observe()

    def observe(self):
        i, j = self.position
        near = [float((i + a, j + b) in self.walls) for a, b in MOVES]
        edge = [float(i == 0), float(j == 0), float(i == self.size - 1), float(j == self.size - 1)]
        return np.array([i / self.size, j / self.size, *near, *edge])

    def step(self, action):
        self.time += 1
        a, b = MOVES[action]
        i, j = self.position[0] + a, self.position[1] + b
        reward = -0.02
        if not (0 <= i < self.size and 0 <= j < self.size) or (i, j) in self.walls:
            reward = -0.1
        else:
            self.position = (i, j)
        done = self.position == (self.size - 1, self.size - 1)
        if done:
            reward = 1.0
        return self.observe(), reward, done, self.time >= 60


class Memory:
    def __init__(self, capacity):
        self.items = deque(maxlen=capacity)

    def add(self, *item):
        self.items.append(item)

    def sample(self, rng, count):
        rows = rng.sample(self.items, count)
        obs, action, reward, following, done = zip(*rows)
        return (
            np.stack(obs).astype(np.float32),
            np.array(action),
            np.array(reward, np.float32),
            np.stack(following).astype(np.float32),
            np.array(done, np.float32),
        )


def init_params(sizes, key):
    params = []
    for m, n in zip(sizes[:-1], sizes[1:]):
        key, sub = jax.random.split(key)
        params.append({"w": jax.random.normal(sub, (m, n)) * jnp.sqrt(2 / m), "b": jnp.zeros(n)})
    return params


def q_values(params, obs):
    h = obs
    for layer in params[:-1]:
        h = jax.nn.relu(h @ layer["w"] + layer["b"])
    return h @ params[-1]["w"] + params[-1]["b"]


def td_loss(params, target, batch, gamma):
    obs, action, reward, following, done = batch
    q = jnp.take_along_axis(q_values(params, obs), action[:, None], axis=1)[:, 0]
    best = jnp.argmax(q_values(params, following), axis=1)
    value = jnp.take_along_axis(q_values(target, following), best[:, None], axis=1)[:, 0]
    goal = jax.lax.stop_gradient(reward + gamma * (1 - done) * value)
    return jnp.mean(optax.huber_loss(q, goal))


@jax.jit
def greedy(params, obs):
    return jnp.argmax(q_values(params, obs))


class Agent:
    def __init__(self, key, observations, actions, rate=2e-3):
        self.params = init_params([observations, 64, 64, actions], key)
        self.target = jax.tree.map(jnp.copy, self.params)
        self.tx = optax.adam(rate)
        self.opt_state = self.tx.init(self.params)
        self.rng = random.Random(1)

    def act(self, obs, epsilon):
        if self.rng.random() < epsilon:
            return self.rng.randrange(4)
        return int(greedy(self.params, obs.astype(np.float32)))

    @functools.partial(jax.jit, static_argnums=0, donate_argnums=(1, 2, 3))
    def _update(self, params, target, opt_state, batch, gamma, tau):
        loss, grads = jax.value_and_grad(td_loss)(params, target, batch, gamma)
        updates, opt_state = self.tx.update(grads, opt_state)
        params = optax.apply_updates(params, updates)
        target = jax.tree.map(lambda t, p: (1 - tau) * t + tau * p, target, params)
        return params, target, opt_state, loss

    def update(self, batch, gamma=0.97, tau=0.02):
        self.params, self.target, self.opt_state, loss = self._update(
            self.params, self.target, self.opt_state, batch, gamma, tau
        )
        return loss


def main():
    env = Maze(6, 6, seed=4)
    agent = Agent(jax.random.PRNGKey(0), 10, 4)
    memory = Memory(2000)
    frames = 0
    for episode in range(24):
        obs, total, losses = env.reset(), 0.0, []
        while True:
            epsilon = max(0.1, 1.0 - frames / 500)
            action = agent.act(obs, epsilon)
            following, reward, done, truncated = env.step(action)
            memory.add(obs, action, reward, following, done)
            obs = following
            total += reward
            frames += 1
            if len(memory.items) >= 64 and frames % 2 == 0:
                losses.append(agent.update(memory.sample(agent.rng, 32)))
            if done or truncated:
                break
        if (episode + 1) % 6 == 0:
            print(f"episode {episode + 1}: return {total:.2f} frames {frames} loss {np.mean(losses):.3f}")


if __name__ == "__main__":
    main()
