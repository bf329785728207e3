# blind: sixteenth
# missed: a NumPy buffer that changes while an array may share it

"""Collect episodes into one NumPy buffer that is filled again for each update."""

import jax
import jax.numpy as jnp
import numpy as np
import optax

OBS, ACTIONS, STEPS = 16, 3, 4096


class Corridor:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.state = self.rng.normal(size=OBS).astype(np.float32)
        return self.state

    def step(self, action):
        self.state = 0.9 * self.state + 0.1 * self.rng.normal(size=OBS).astype(np.float32)
        return self.state, float(self.state[action])


class Rollout:
    def __init__(self, steps):
        self.obs = np.zeros((steps, OBS), np.float32)
        self.actions = np.zeros((steps,), np.int32)
        self.rewards = np.zeros((steps,), np.float32)

    def as_jax(self):
        return jnp.asarray(self.obs), jnp.asarray(self.actions), jnp.asarray(self.rewards)  # finding


def logits_fn(params, obs):
    return jnp.tanh(obs @ params["w1"]) @ params["w2"]


@jax.jit
def act(params, obs, key):
    return jax.random.categorical(key, logits_fn(params, obs))


optimizer = optax.adam(1e-3)


@jax.jit
def update(params, opt_state, obs, actions, rewards):
    def loss_fn(params):
        logp = jax.nn.log_softmax(logits_fn(params, obs))
        chosen = jnp.take_along_axis(logp, actions[:, None], axis=1)[:, 0]
        return -jnp.mean(chosen * (rewards - rewards.mean()))

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


def collect(env, params, key, rollout, steps):
    obs = env.reset()
    for t in range(steps):
        key, sub = jax.random.split(key)
        action = int(act(params, obs, sub))
        rollout.obs[t], rollout.actions[t] = obs, action
        obs, rollout.rewards[t] = env.step(action)
    return rollout.as_jax(), key


def main(updates=2, steps=STEPS):
    env, rollout = Corridor(0), Rollout(steps)
    key = jax.random.PRNGKey(0)
    key, k1, k2 = jax.random.split(key, 3)
    params = {
        "w1": jax.random.normal(k1, (OBS, 32)) * 0.3,
        "w2": jax.random.normal(k2, (32, ACTIONS)) * 0.1,
    }
    opt_state = optimizer.init(params)
    memory = []
    for _ in range(updates):
        batch, key = collect(env, params, key, rollout, steps)
        memory.append(batch)
        for obs, actions, rewards in memory[-8:]:
            params, opt_state, loss = update(params, opt_state, obs, actions, rewards)
    print(loss, "same batches:", bool((memory[0][0] == memory[-1][0]).all()))


if __name__ == "__main__":
    main(steps=64)
