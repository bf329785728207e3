# blind: twenty-first

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax


class Batch(NamedTuple):
    obs: jax.Array
    action: jax.Array
    reward: jax.Array
    next_obs: jax.Array


def init(key, hidden=32):
    k1, k2 = jax.random.split(key)
    return {"w1": jax.random.normal(k1, (4, hidden)) / 2.0,
            "w2": jax.random.normal(k2, (hidden, 3)) / hidden ** 0.5}


def q_values(params, obs):
    return jnp.tanh(obs @ params["w1"]) @ params["w2"]


def td_loss(target_pair, params_pair, batch, gamma=0.9):
    nxt = jnp.stack([q_values(p, batch.next_obs).max(axis=1) for p in target_pair])
    target = jax.lax.stop_gradient(batch.reward + gamma * nxt.min(axis=0))
    loss = 0.0
    for p in params_pair:
        q = jnp.take_along_axis(q_values(p, batch.obs), batch.action[:, None], axis=1)
        loss = loss + jnp.mean((q[:, 0] - target) ** 2)
    return loss


tx = optax.adam(3e-3)


@jax.jit  # finding-other
def update(params, targets, opt_state, batch):
    loss, grads = jax.value_and_grad(td_loss, argnums=1)(targets, params, batch)
    updates, opt_state = tx.update(grads, opt_state)
    params = optax.apply_updates(params, updates)
    return params, optax.incremental_update(params, targets, 0.01), opt_state, loss


def sample(rng, n=128):
    obs = rng.normal(size=(n, 4)).astype(np.float32)
    action = rng.integers(0, 3, size=n)
    return Batch(obs, action, obs[np.arange(n), action],
                 rng.normal(size=(n, 4)).astype(np.float32))


def main():
    params = (init(jax.random.key(0)), init(jax.random.key(1)))
    targets, opt_state = params, tx.init(params)
    rng = np.random.default_rng(0)
    for _ in range(1000):
        params, targets, opt_state, loss = update(params, targets, opt_state, sample(rng))
    test = sample(rng, 1024)
    greedy = q_values(params[0], test.obs).argmax(axis=1)
    match = float((greedy == test.obs[:, :3].argmax(axis=1)).mean())
    print("loss", float(loss), "match", match)
    assert match > 0.85


if __name__ == "__main__":
    main()
