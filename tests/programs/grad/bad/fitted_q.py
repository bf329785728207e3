# blind: twenty-first
# missed: which of two trees of parameters is to be trained

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

GAMMA = 0.9


class Batch(NamedTuple):
    obs: jax.Array
    action: jax.Array
    reward: jax.Array
    next_obs: jax.Array


def init(key, obs_dim=4, actions=3, hidden=32):
    k1, k2 = jax.random.split(key)
    return {"w1": jax.random.normal(k1, (obs_dim, hidden)) / obs_dim ** 0.5,
            "w2": jax.random.normal(k2, (hidden, actions)) / hidden ** 0.5}


def q_values(params, obs):
    return jnp.tanh(obs @ params["w1"]) @ params["w2"]


def td_loss(target_params, params, batch):  # finding-also
    q = q_values(params, batch.obs)
    chosen = jnp.take_along_axis(q, batch.action[:, None], axis=1)[:, 0]
    bootstrap = q_values(target_params, batch.next_obs).max(axis=1)
    return jnp.mean((chosen - batch.reward - GAMMA * bootstrap) ** 2)


tx = optax.adam(3e-3)


@jax.jit
def update(params, target_params, opt_state, batch):
    loss, grads = jax.value_and_grad(td_loss)(target_params, params, batch)  # finding
    updates, opt_state = tx.update(grads, opt_state)
    params = optax.apply_updates(params, updates)
    target_params = optax.incremental_update(params, target_params, 0.01)
    return params, target_params, opt_state, loss


def sample(rng, n=128):
    obs = rng.normal(size=(n, 4)).astype(np.float32)
    action = rng.integers(0, 3, size=n)
    reward = (obs[np.arange(n), action]).astype(np.float32)
    next_obs = rng.normal(size=(n, 4)).astype(np.float32)
    return Batch(obs, action, reward, next_obs)


def main():
    params = init(jax.random.key(0))
    target_params = params
    opt_state = tx.init(params)
    rng = np.random.default_rng(0)
    for it in range(1200):
        params, target_params, opt_state, loss = update(
            params, target_params, opt_state, sample(rng))
    test = sample(rng, 1024)
    greedy = q_values(params, test.obs).argmax(axis=1)
    best = test.obs[:, :3].argmax(axis=1)
    print("td loss", float(loss), "greedy matches best", float((greedy == best).mean()))


if __name__ == "__main__":
    main()
