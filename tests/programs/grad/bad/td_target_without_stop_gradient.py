# source: datawhalechina/easy-rl#117
# blind: eighteenth

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax


class Batch(NamedTuple):
    obs: jax.Array
    action: jax.Array
    reward: jax.Array
    next_obs: jax.Array
    done: jax.Array


def q_net(params, obs):
    h = jax.nn.relu(obs @ params["w1"] + params["b1"])
    return h @ params["w2"]


def td_loss(params, batch, gamma=0.99):
    q = q_net(params, batch.obs)
    q_sa = jnp.take_along_axis(q, batch.action[:, None], axis=1)[:, 0]
    next_v = q_net(params, batch.next_obs).max(axis=1)
    target = batch.reward + gamma * (1.0 - batch.done) * next_v  # finding
    return optax.huber_loss(q_sa, target).mean()  # finding-also


tx = optax.adam(1e-3)


@functools.partial(jax.jit, donate_argnums=(0, 1))
def learn(params, opt_state, batch):
    loss, grads = jax.value_and_grad(td_loss)(params, batch)
    updates, opt_state = tx.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


def main():
    ks = jax.random.split(jax.random.key(0), 4)
    params = {
        "w1": jax.random.normal(ks[0], (4, 16)) * 0.5,
        "b1": jnp.zeros(16),
        "w2": jax.random.normal(ks[1], (16, 2)) * 0.25,
    }
    opt_state = tx.init(params)
    obs, nxt = jax.random.normal(ks[2], (32, 4)), jax.random.normal(ks[3], (32, 4))
    batch = Batch(obs, jnp.arange(32) % 2, jnp.ones(32), nxt, jnp.zeros(32))
    for _ in range(5):
        params, opt_state, loss = learn(params, opt_state, batch)
    print(loss)


if __name__ == "__main__":
    main()
