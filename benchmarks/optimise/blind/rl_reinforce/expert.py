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
        return jax.random.uniform(key, (4,), minval=-0.05, maxval=0.05)

    def step(self, state, action):
        x, x_dot, theta, theta_dot = state
        force = jnp.where(action == 1, self.force_mag, -self.force_mag)
        total = self.masscart + self.masspole
        pml = self.masspole * self.length
        cos, sin = jnp.cos(theta), jnp.sin(theta)
        temp = (force + pml * theta_dot ** 2 * sin) / total
        acc = (self.gravity * sin - cos * temp) / (
            self.length * (4.0 / 3.0 - self.masspole * cos ** 2 / total))
        x_acc = temp - pml * acc * cos / total
        state = jnp.array([
            x + self.dt * x_dot,
            x_dot + self.dt * x_acc,
            theta + self.dt * theta_dot,
            theta_dot + self.dt * acc,
        ])
        fallen = (jnp.abs(state[0]) > 2.4) | (jnp.abs(state[2]) > 12 * math.pi / 180)
        return state, fallen


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


def loss_fn(params, obs, actions, adv):
    logp = jax.nn.log_softmax(jax.vmap(policy, in_axes=(None, 0))(params, obs))
    chosen = jnp.take_along_axis(logp, actions[:, None], axis=1)[:, 0]
    return -jnp.sum(chosen * adv)


class Agent:
    def __init__(self, env, lr=1e-2, gamma=0.98):
        self.env = env
        self.opt = optax.adam(lr)
        self.gamma = gamma
        self.init = jax.jit(self._init)
        self.run_episode = jax.jit(self._run_episode, donate_argnums=0)

    def _init(self, key):
        key, init_key = jax.random.split(key)
        params = init_policy(init_key)
        return params, self.opt.init(params), jnp.float32(0.0), key

    def _rollout(self, params, key):
        key, reset_key = jax.random.split(key)

        def step(carry, _):
            key, obs, done = carry
            next_key, act_key = jax.random.split(key)
            action = jax.random.categorical(act_key, policy(params, obs))
            new_obs, fallen = self.env.step(obs, action)
            key = jnp.where(done, key, next_key)
            return (key, new_obs, done | fallen), (obs, action, ~done)

        carry = (key, self.env.reset(reset_key), jnp.array(False))
        (key, _, _), trajectory = jax.lax.scan(step, carry, length=self.env.max_steps)
        return key, trajectory

    def _run_episode(self, learner):
        params, opt_state, baseline, key = learner
        key, (obs, actions, alive) = self._rollout(params, key)
        rewards = alive.astype(jnp.float32)
        _, returns = jax.lax.scan(
            lambda g, r: (r + self.gamma * g,) * 2, jnp.float32(0.0), rewards, reverse=True)
        n = rewards.sum()
        baseline = 0.9 * baseline + 0.1 * returns.sum() / n
        adv = jnp.where(alive, returns - baseline, 0.0)
        grads = jax.grad(loss_fn)(params, obs, actions, adv)
        updates, opt_state = self.opt.update(grads, opt_state)
        return (optax.apply_updates(params, updates), opt_state, baseline, key), n


def main(episodes=12):
    agent = Agent(CartPole())
    learner = agent.init(jax.random.PRNGKey(7))
    lengths = []
    for episode in range(1, episodes + 1):
        learner, n = agent.run_episode(learner)
        lengths.append(n)
        if episode % 4 == 0:
            mean = sum(jax.device_get(lengths[-4:])) / 4
            print(f"episode {episode} mean length {mean:.1f}")


if __name__ == "__main__":
    main()
