# source: Artur-Galstyan/jaxrl#3

import jax
import jax.numpy as jnp
import numpy as np


class Corridor:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.pos = int(self.rng.integers(1, 20))
        return np.array([self.pos], np.float32)

    def step(self, action):
        self.pos += 1 if action else -1
        return np.array([self.pos], np.float32), -1.0, self.pos <= 0 or self.pos > 30


def policy(params, obs):
    return jnp.tanh(obs @ params["w"]) @ params["v"]


@jax.jit
def reinforce(params, obs, actions, returns):
    def loss(p):
        logp = jax.nn.log_softmax(policy(p, obs))
        chosen = jnp.take_along_axis(logp, actions[:, None], axis=1)[:, 0]
        return -jnp.mean(chosen * returns)

    return jax.tree.map(lambda p, g: p - 1e-2 * g, params, jax.grad(loss)(params))


def rollout(env, rng):
    obs, done = env.reset(), False
    seen, taken, rewards = [], [], []
    while not done and len(seen) < 200:
        action = int(rng.integers(2))
        seen.append(obs)
        taken.append(action)
        obs, reward, done = env.step(action)
        rewards.append(reward)
    returns = np.cumsum(rewards[::-1])[::-1]
    return np.stack(seen), np.array(taken), returns.astype(np.float32)


def train(params, n_episodes=15):
    env, rng = Corridor(0), np.random.default_rng(1)
    for _ in range(n_episodes):
        obs, actions, returns = rollout(env, rng)
        params = reinforce(params, obs, actions, returns)  # finding
    return params


if __name__ == "__main__":
    print(train({"w": jnp.ones((1, 4)), "v": jnp.ones((4, 2))}))
