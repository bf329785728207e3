"""REINFORCE with a baseline on cart-pole, everything in jax."""
import math
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import optax


@dataclass
class CartPole:
    gravity: float = 9.8
    masscart: float = 1.0
    masspole: float = 0.1
    length: float = 0.5
    force_mag: float = 10.0
    dt: float = 0.02
    max_steps: int = 60

    def reset(self, key):
        self.state = jax.random.uniform(key, (4,), minval=-0.05, maxval=0.05)
        self.t = 0
        return self.state

    def step(self, action):
        x, x_dot, theta, theta_dot = self.state
        force = self.force_mag if action == 1 else -self.force_mag
        total = self.masscart + self.masspole
        pml = self.masspole * self.length
        cos, sin = jnp.cos(theta), jnp.sin(theta)
        temp = (force + pml * theta_dot ** 2 * sin) / total
        acc = (self.gravity * sin - cos * temp) / (
            self.length * (4.0 / 3.0 - self.masspole * cos ** 2 / total))
        x_acc = temp - pml * acc * cos / total
        self.state = jnp.array([
            x + self.dt * x_dot,
            x_dot + self.dt * x_acc,
            theta + self.dt * theta_dot,
            theta_dot + self.dt * acc,
        ])
        self.t += 1
        fallen = abs(float(self.state[0])) > 2.4 or abs(float(self.state[2])) > 12 * math.pi / 180
        return self.state, 1.0, fallen or self.t >= self.max_steps


def init_policy(key, sizes=(4, 32, 2)):
    params = []
    for n_in, n_out in zip(sizes[:-1], sizes[1:]):
        key, sub = jax.random.split(key)
        params.append({"w": jax.random.normal(sub, (n_in, n_out)) / jnp.sqrt(n_in),
                       "b": jnp.zeros(n_out)})
    return params


def policy(params, obs):
    h = jnp.tanh(obs @ params[0]["w"] + params[0]["b"])
    return h @ params[1]["w"] + params[1]["b"]


def discounted(rewards, gamma):
    returns, running = [], 0.0
    for r in reversed(rewards):
        running = r + gamma * running
        returns.append(running)
    return jnp.array(returns[::-1])


def loss_fn(params, obs, actions, adv):
    logp = jax.nn.log_softmax(jax.vmap(policy, in_axes=(None, 0))(params, obs))
    chosen = jnp.take_along_axis(logp, actions[:, None], axis=1)[:, 0]
    return -jnp.sum(chosen * adv)


class Agent:
    def __init__(self, key, lr=1e-2, gamma=0.98):
        self.params = init_policy(key)
        self.opt = optax.adam(lr)
        self.opt_state = self.opt.init(self.params)
        self.gamma = gamma
        self.baseline = 0.0

    def act(self, key, obs):
        return int(jax.random.categorical(key, policy(self.params, obs)))

    def learn(self, obs, actions, rewards):
        returns = discounted(rewards, self.gamma)
        self.baseline = 0.9 * self.baseline + 0.1 * float(returns.mean())
        adv = returns - self.baseline
        loss, grads = jax.value_and_grad(loss_fn)(
            self.params, jnp.stack(obs), jnp.array(actions), adv)
        updates, self.opt_state = self.opt.update(grads, self.opt_state)
        self.params = optax.apply_updates(self.params, updates)
        return float(loss)


def main(episodes=12):
    key = jax.random.PRNGKey(7)
    key, init_key = jax.random.split(key)
    env, agent = CartPole(), Agent(init_key)
    lengths = []
    for episode in range(1, episodes + 1):
        key, reset_key = jax.random.split(key)
        obs, done = env.reset(reset_key), False
        observations, actions, rewards = [], [], []
        while not done:
            key, act_key = jax.random.split(key)
            action = agent.act(act_key, obs)
            observations.append(obs)
            actions.append(action)
            obs, reward, done = env.step(action)
            rewards.append(reward)
        agent.learn(observations, actions, rewards)
        lengths.append(len(rewards))
        if episode % 4 == 0:
            print(f"episode {episode} mean length {sum(lengths[-4:]) / 4:.1f}")


if __name__ == "__main__":
    main()
