import random
from collections import deque

import jax
import jax.numpy as jnp
import numpy as np
import optax

GAMMA = 0.99


def q_values(params, obs):
    h = jnp.tanh(obs @ params["w1"] + params["b1"])
    return h @ params["w2"] + params["b2"]


def td_loss(params, target_params, batch):
    obs, actions, rewards, next_obs, done = batch
    q = jnp.take_along_axis(q_values(params, obs), actions[:, None], axis=1)[:, 0]
    target = rewards + GAMMA * (1 - done) * jnp.max(q_values(target_params, next_obs), axis=1)
    return jnp.mean((q - jax.lax.stop_gradient(target)) ** 2)


def init(key):
    k1, k2 = jax.random.split(key)
    return {"w1": jax.random.normal(k1, (4, 32)) * 0.3, "b1": jnp.zeros(32), "w2": jax.random.normal(k2, (32, 2)) * 0.1, "b2": jnp.zeros(2)}


def env_step(state, action, rng):
    state = state + 0.1 * (2 * action - 1) * np.array([1.0, 0.5, -0.5, 0.2]) + rng.normal(size=4) * 0.01
    return state, float(-abs(state[0])), bool(abs(state[0]) > 2)


def main():
    random.seed(0)
    rng = np.random.default_rng(0)
    params = init(jax.random.PRNGKey(0))
    target_params = params
    tx = optax.adam(1e-3)
    opt_state = tx.init(params)
    buffer = deque(maxlen=500)
    state = np.zeros(4)
    total = 0.0
    for t in range(300):
        if random.random() < 0.1:
            action = random.randrange(2)
        else:
            action = int(jnp.argmax(q_values(params, jnp.asarray(state, dtype=jnp.float32))))
        next_state, reward, done = env_step(state, action, rng)
        buffer.append((state, action, reward, next_state, done))
        state = np.zeros(4) if done else next_state
        total += reward
        if len(buffer) >= 32:
            sample = random.sample(list(buffer), 32)
            batch = tuple(np.array(c, dtype=np.int32 if i == 1 else np.float32) for i, c in enumerate(zip(*sample)))
            loss, grads = jax.value_and_grad(td_loss)(params, target_params, batch)
            updates, opt_state = tx.update(grads, opt_state)
            params = optax.apply_updates(params, updates)
        if t % 50 == 0:
            target_params = params
    print(f"{total:.3f}", float(loss))


main()
