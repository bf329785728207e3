"""Advantage actor-critic: steer ferries across a river with a current to a dock on the other bank."""
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import optax


@dataclass
class Config:
    ferries: int = 8
    rollout: int = 16
    updates: int = 120
    max_steps: int = 40
    hidden: int = 32
    gamma: float = 0.97
    gae_lambda: float = 0.9
    entropy_bonus: float = 0.01
    learning_rate: float = 5e-3
    report_every: int = 20
    seed: int = 5


class FerryFleet:
    """Each ferry starts at the next scenario of its own list: start, current and dock position."""

    def __init__(self, config):
        rng = np.random.default_rng(config.seed)
        self.n = config.ferries
        self.max_steps = config.max_steps
        self.scenarios = rng.uniform(-1, 1, size=(self.n, 400, 3)).astype(np.float32)
        self.episode = np.zeros(self.n, dtype=int)
        self.position = np.zeros((self.n, 2), np.float32)
        self.drift = np.zeros(self.n, np.float32)
        self.dock = np.zeros(self.n, np.float32)
        self.steps = np.zeros(self.n, dtype=int)
        for i in range(self.n):
            self.reset(i)

    def reset(self, i):
        start, current, dock = self.scenarios[i, self.episode[i]]
        self.position[i] = (start, 0.0)
        self.drift[i] = 0.06 * current
        self.dock[i] = dock
        self.steps[i] = 0
        self.episode[i] += 1

    def observe(self):
        offset = self.dock - self.position[:, 0]
        return np.stack([offset, self.position[:, 1], 10 * self.drift, self.steps / np.float32(40)], axis=1).astype(np.float32)

    def step(self, actions):
        rewards = np.zeros(self.n, np.float32)
        done = np.zeros(self.n, bool)
        for i, action in enumerate(actions):
            x, y = self.position[i]
            x = x + self.drift[i] + np.float32(0.12) * np.float32(action - 1)
            y = y + np.float32(0.05)
            self.position[i] = (x, y)
            self.steps[i] += 1
            rewards[i] = -np.float32(0.1) * abs(self.dock[i] - x)
            if y >= 1.0:
                rewards[i] += 1.0 if abs(self.dock[i] - x) < 0.15 else -1.0
                done[i] = True
            elif abs(x) > 1.8 or self.steps[i] >= self.max_steps:
                rewards[i] -= 1.0
                done[i] = True
            if done[i]:
                self.reset(i)
        return self.observe(), rewards, done


def init_params(config, key):
    sizes = [(4, config.hidden), (config.hidden, config.hidden), (config.hidden, 3), (config.hidden, 1)]
    keys = jax.random.split(key, len(sizes))
    return [(jax.random.normal(k, s) / jnp.sqrt(s[0]), jnp.zeros(s[1])) for k, s in zip(keys, sizes)]


def actor_critic(params, observations):
    (w1, b1), (w2, b2), (wa, ba), (wc, bc) = params
    h = jnp.tanh(observations @ w1 + b1)
    h = jnp.tanh(h @ w2 + b2)
    return h @ wa + ba, (h @ wc + bc)[..., 0]


def a2c_loss(params, observations, actions, advantages, returns, config):
    logits, values = actor_critic(params, observations)
    log_probs = jax.nn.log_softmax(logits)
    chosen = jnp.take_along_axis(log_probs, actions[..., None], axis=-1)[..., 0]
    entropy = -jnp.sum(jnp.exp(log_probs) * log_probs, axis=-1).mean()
    policy_loss = -(chosen * advantages).mean()
    value_loss = 0.5 * ((values - returns) ** 2).mean()
    return policy_loss + value_loss - config.entropy_bonus * entropy, (value_loss, entropy)


def gae(rewards, values, done, last_value, config):
    advantages, running = [], jnp.zeros_like(last_value)
    next_value = last_value
    for t in reversed(range(len(rewards))):
        alive = 1.0 - done[t]
        delta = rewards[t] + config.gamma * alive * next_value - values[t]
        running = delta + config.gamma * config.gae_lambda * alive * running
        advantages.insert(0, running)
        next_value = values[t]
    return jnp.stack(advantages)


def main():
    config = Config()
    fleet = FerryFleet(config)
    key, init_key = jax.random.split(jax.random.PRNGKey(config.seed))
    params = init_params(config, init_key)
    tx = optax.adam(config.learning_rate)
    opt_state = tx.init(params)
    observation = fleet.observe()
    running_return = np.zeros(config.ferries, np.float32)
    finished, value_losses, entropies = [], [], []

    for update in range(1, config.updates + 1):
        trajectory = []
        for _ in range(config.rollout):
            logits, values = actor_critic(params, observation)
            key, action_key = jax.random.split(key)
            actions = jax.random.categorical(action_key, logits)
            next_observation, rewards, done = fleet.step(np.asarray(actions))
            trajectory.append((observation, actions, values, rewards, done))
            running_return += rewards
            for i in np.flatnonzero(done):
                finished.append(running_return[i])
                running_return[i] = 0.0
            observation = next_observation
        observations, actions, values, rewards, done = (jnp.stack([jnp.asarray(x) for x in part]) for part in zip(*trajectory))
        _, last_value = actor_critic(params, observation)
        advantages = gae(rewards, values, done, last_value, config)
        returns = advantages + values
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        (loss, (value_loss, entropy)), grads = jax.value_and_grad(a2c_loss, has_aux=True)(
            params, observations, actions, advantages, returns, config
        )
        updates, opt_state = tx.update(grads, opt_state)
        params = optax.apply_updates(params, updates)
        value_losses.append(float(value_loss))
        entropies.append(float(entropy))
        if update % config.report_every == 0:
            print(
                f"update {update}: {len(finished)} crossings, mean return {np.mean(finished):.3f}, "
                f"value loss {np.mean(value_losses):.3g}, entropy {np.mean(entropies):.3f}"
            )
            finished, value_losses, entropies = [], [], []


if __name__ == "__main__":
    main()
