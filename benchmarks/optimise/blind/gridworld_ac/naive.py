"""REINFORCE with a value baseline on a small pendulum-like balancing task written in JAX."""
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

GAMMA = 0.97
HORIZON = 40
EPISODES = 6  # per update
UPDATES = 20
FORCES = jnp.array([-1.0, 0.0, 1.0])


class EnvState(NamedTuple):
    angle: jnp.ndarray
    speed: jnp.ndarray
    t: int


class Balance:
    """Keep a pole near upright by pushing left, not at all or right."""

    def __init__(self, gravity=2.0, dt=0.1, limit=1.0):
        self.gravity = gravity
        self.dt = dt
        self.limit = limit

    def reset(self, key):
        start = jax.random.uniform(key, (2,), minval=-0.2, maxval=0.2)
        return EnvState(start[0], start[1], 0)

    def observe(self, state):
        return jnp.array([state.angle, state.speed, jnp.sin(3 * state.angle)])

    def step(self, state, action, key):
        wind = 0.1 * jax.random.normal(key)
        accel = self.gravity * jnp.sin(state.angle) + 1.5 * FORCES[action] + wind
        speed = state.speed + self.dt * accel
        angle = state.angle + self.dt * speed
        reward = 1.0 - angle**2 - 0.02 * jnp.abs(FORCES[action])
        done = jnp.abs(angle) > self.limit
        return EnvState(angle, speed, state.t + 1), reward, done


def init_layer(key, n_in, n_out, scale=1.0):
    return {"w": scale * jax.random.normal(key, (n_in, n_out)) / jnp.sqrt(n_in), "b": jnp.zeros(n_out)}


def init_agent(key, hidden=32):
    k1, k2, k3 = jax.random.split(key, 3)
    return {
        "body": init_layer(k1, 3, hidden),
        "policy": init_layer(k2, hidden, 3, 0.1),
        "value": init_layer(k3, hidden, 1, 0.1),
    }


def forward(params, obs):
    h = jnp.tanh(obs @ params["body"]["w"] + params["body"]["b"])
    logits = h @ params["policy"]["w"] + params["policy"]["b"]
    value = h @ params["value"]["w"] + params["value"]["b"]
    return logits, value[..., 0]


env = Balance()
policy = jax.jit(forward)
env_step = jax.jit(env.step)


def run_episode(params, key, greedy=False):
    key, k = jax.random.split(key)
    state = env.reset(k)
    obs_list, actions, rewards = [], [], []
    for t in range(HORIZON):
        key, k_act, k_env = jax.random.split(key, 3)
        obs = env.observe(state)
        logits, _ = policy(params, obs)
        if greedy:
            action = int(jnp.argmax(logits))
        else:
            action = int(jax.random.categorical(k_act, logits))
        state, reward, done = env_step(state, action, k_env)
        obs_list.append(obs)
        actions.append(action)
        rewards.append(float(reward))
        if done:
            break
    return obs_list, actions, rewards


def discount(rewards):
    out, acc = [], 0.0
    for r in reversed(rewards):
        acc = r + GAMMA * acc
        out.append(acc)
    return out[::-1]


def loss_fn(params, obs, actions, returns, mask):
    logits, values = forward(params, obs)
    logp = jax.nn.log_softmax(logits)
    chosen = jnp.take_along_axis(logp, actions[..., None], axis=-1)[..., 0]
    advantage = jax.lax.stop_gradient(returns - values)
    entropy = -jnp.sum(jnp.exp(logp) * logp, axis=-1)
    each = -chosen * advantage + 0.5 * (returns - values) ** 2 / 10 - 0.01 * entropy
    return jnp.sum(each * mask) / jnp.sum(mask)


grad_fn = jax.grad(loss_fn)


def main():
    key = jax.random.PRNGKey(7)
    key, k = jax.random.split(key)
    params = init_agent(k)
    velocity = jax.tree_util.tree_map(jnp.zeros_like, params)
    history = []
    for update in range(UPDATES):
        all_obs = np.zeros((EPISODES, HORIZON, 3), np.float32)
        all_actions = np.zeros((EPISODES, HORIZON), np.int32)
        all_returns = np.zeros((EPISODES, HORIZON), np.float32)
        mask = np.zeros((EPISODES, HORIZON), np.float32)
        totals = []
        for e in range(EPISODES):
            key, k = jax.random.split(key)
            obs, actions, rewards = run_episode(params, k)
            n = len(rewards)
            all_obs[e, :n] = obs
            all_actions[e, :n] = actions
            all_returns[e, :n] = discount(rewards)
            mask[e, :n] = 1.0
            totals.append(sum(rewards))
        grads = grad_fn(params, all_obs, all_actions, all_returns, mask)
        velocity = jax.tree_util.tree_map(lambda v, g: 0.8 * v + g, velocity, grads)
        params = jax.tree_util.tree_map(lambda p, v: p - 0.03 * v, params, velocity)
        history.append(np.mean(totals))
        if (update + 1) % 4 == 0:
            print(f"update {update + 1}: mean return {np.mean(history[-4:]):.3g}")
    scores, lengths = [], []
    for i in range(10):
        _, _, rewards = run_episode(params, jax.random.PRNGKey(100 + i), greedy=True)
        scores.append(sum(rewards))
        lengths.append(len(rewards))
    print(f"greedy: return {np.mean(scores):.3g} worst {np.min(scores):.3g} length {np.mean(lengths):.3g}")
    print(f"value at rest: {float(policy(params, jnp.zeros(3))[1]):.3g}")


if __name__ == "__main__":
    main()
