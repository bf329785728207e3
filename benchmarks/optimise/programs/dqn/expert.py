"""The same as naive.py, jitted as CleanRL does.

After https://github.com/vwxyzjn/cleanrl: cleanrl/dqn_jax.py (`q_network.apply = jax.jit(q_network.apply)`, `@jax.jit def update`), and
stable-baselines3's buffers (arrays of a fixed size, rows drawn at once).
"""

import argparse
import functools
import random

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import linen as nn
from flax.training.train_state import TrainState


class CartPole:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.state = self.rng.uniform(-0.05, 0.05, size=4)
        self.steps = 0
        return self.state.astype(np.float32)

    def step(self, action):
        x, v, angle, spin = self.state
        force = 10.0 if action == 1 else -10.0
        push = (force + 0.05 * spin**2 * np.sin(angle)) / 1.1
        turn = (9.8 * np.sin(angle) - np.cos(angle) * push) / (
            0.5 * (4 / 3 - 0.1 * np.cos(angle) ** 2 / 1.1)
        )
        shift = push - 0.05 * turn * np.cos(angle) / 1.1
        self.state = np.array([x + 0.02 * v, v + 0.02 * shift, angle + 0.02 * spin, spin + 0.02 * turn])
        self.steps += 1
        done = abs(self.state[0]) > 2.4 or abs(self.state[2]) > 0.21 or self.steps >= 200
        return self.state.astype(np.float32), 1.0, bool(done)


class ReplayBuffer:
    def __init__(self, size):
        self.size, self.count = size, 0
        self.obs, self.next_obs = np.zeros((2, size, 4), np.float32)
        self.actions = np.zeros(size, np.int32)
        self.rewards, self.dones = np.zeros((2, size), np.float32)

    def add(self, transition):
        i = self.count % self.size
        self.obs[i], self.actions[i], self.rewards[i], self.next_obs[i], self.dones[i] = transition
        self.count += 1

    def sample(self, count):
        filled = min(self.count, self.size)
        first = self.count - filled
        rows = (np.array(random.sample(range(filled), count)) + first) % self.size
        return self.obs[rows], self.actions[rows], self.rewards[rows], self.next_obs[rows], self.dones[rows]


class QNetwork(nn.Module):
    actions: int

    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(120)(x))
        x = nn.relu(nn.Dense(84)(x))
        return nn.Dense(self.actions)(x)


class DQNState(TrainState):
    target_params: dict


@functools.partial(jax.jit, static_argnums=0)
def greedy(q_network, params, obs):
    return jnp.argmax(q_network.apply(params, obs))


def select_action(q_network, params, obs, epsilon):
    if random.random() < epsilon:
        return random.randint(0, 1)
    return int(greedy(q_network, params, obs))


@functools.partial(jax.jit, static_argnums=0, donate_argnums=1)
def train(q_network, state, obs, actions, rewards, next_obs, dones, gamma):
    q_next = q_network.apply(state.target_params, next_obs)
    target = rewards + gamma * (1.0 - dones) * jnp.max(q_next, axis=-1)

    def mse_loss(params):
        q = q_network.apply(params, obs)
        q = q[jnp.arange(q.shape[0]), actions]
        return jnp.mean((q - target) ** 2), q

    (loss, q), grads = jax.value_and_grad(mse_loss, has_aux=True)(state.params)
    state = update_target(state.apply_gradients(grads=grads), 0.05)
    return loss, state


def update_target(state, tau):
    return state.replace(
        target_params=jax.tree.map(
            lambda p, t: tau * p + (1 - tau) * t, state.params, state.target_params
        )
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=800)
    parser.add_argument("--batch-size", type=int, default=64)
    args = parser.parse_args()

    random.seed(0)
    env = CartPole(0)
    buffer = ReplayBuffer(1000)
    q_network = QNetwork(actions=2)
    obs = env.reset()
    params = jax.jit(q_network.init)(jax.random.PRNGKey(0), obs)
    state = DQNState.create(
        apply_fn=q_network.apply, params=params, target_params=jax.tree.map(jnp.copy, params), tx=optax.adam(1e-3)
    )
    losses, episodes = [], 0
    for step in range(args.steps):
        epsilon = max(0.05, 1.0 - step / 500)
        action = select_action(q_network, state.params, obs, epsilon)
        next_obs, reward, done = env.step(action)
        buffer.add((obs, action, reward, next_obs, done))
        obs = env.reset() if done else next_obs
        episodes += done
        if step >= 100 and step % 4 == 0:
            loss, state = train(q_network, state, *buffer.sample(args.batch_size), 0.99)
            losses.append(loss)
        if step % 200 == 199:
            print(f"step {step} episodes {episodes} loss {np.mean(jax.device_get(losses[-20:])):.4f}")


if __name__ == "__main__":
    main()
