"""DQN on cart-pole with a replay buffer: a flax linen network, after CleanRL's structure."""

import argparse
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
        self.size = size
        self.storage = []

    def add(self, transition):
        if len(self.storage) >= self.size:
            self.storage.pop(0)
        self.storage.append(transition)

    def sample(self, count):
        batch = random.sample(self.storage, count)
        return [jnp.array([t[i] for t in batch]) for i in range(5)]


class QNetwork(nn.Module):
    actions: int

    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(120)(x))
        x = nn.relu(nn.Dense(84)(x))
        return nn.Dense(self.actions)(x)


class DQNState(TrainState):
    target_params: dict


def select_action(q_network, params, obs, epsilon):
    if random.random() < epsilon:
        return random.randint(0, 1)
    q_values = q_network.apply(params, obs)
    return int(jnp.argmax(q_values))


def train(q_network, state, obs, actions, rewards, next_obs, dones, gamma):
    q_next = q_network.apply(state.target_params, next_obs)
    target = rewards + gamma * (1.0 - dones) * jnp.max(q_next, axis=-1)

    def mse_loss(params):
        q = q_network.apply(params, obs)
        q = q[jnp.arange(q.shape[0]), actions]
        return jnp.mean((q - target) ** 2), q

    (loss, q), grads = jax.value_and_grad(mse_loss, has_aux=True)(state.params)
    state = state.apply_gradients(grads=grads)
    return loss, q, state


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
    params = q_network.init(jax.random.PRNGKey(0), obs)
    state = DQNState.create(
        apply_fn=q_network.apply, params=params, target_params=params, tx=optax.adam(1e-3)
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
            loss, _, state = train(q_network, state, *buffer.sample(args.batch_size), 0.99)
            losses.append(float(loss))
            state = update_target(state, 0.05)
        if step % 200 == 199:
            print(f"step {step} episodes {episodes} loss {np.mean(losses[-20:]):.4f}")


if __name__ == "__main__":
    main()
