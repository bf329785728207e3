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


def q_net(params, obs):
    return jax.nn.relu(obs @ params["w1"]) @ params["w2"]


def td_loss(params, target_params, batch, gamma=0.99):
    q = jnp.take_along_axis(q_net(params, batch.obs), batch.action[:, None], axis=1)[:, 0]
    bootstrap = q_net(target_params, batch.next_obs).max(axis=1)
    target = jax.lax.stop_gradient(batch.reward + gamma * bootstrap)
    td = q - target
    return jnp.mean(optax.huber_loss(td)), {"td_abs": jnp.abs(td).mean(), "q": q.mean()}


tx = optax.adam(1e-3)


@functools.partial(jax.jit, donate_argnums=(0, 1, 2))
def learn(params, target_params, opt_state, batch):
    grad_fn = jax.value_and_grad(td_loss, has_aux=True)
    (loss, info), grads = grad_fn(params, target_params, batch)
    updates, opt_state = tx.update(grads, opt_state, params)
    params = optax.apply_updates(params, updates)
    target_params = optax.incremental_update(params, target_params, 0.01)
    return params, target_params, opt_state, {"loss": loss, **info}


def main():
    ks = jax.random.split(jax.random.key(0), 4)
    params = {"w1": jax.random.normal(ks[0], (4, 16)), "w2": jax.random.normal(ks[1], (16, 2))}
    target = jax.tree.map(jnp.copy, params)
    opt_state = tx.init(params)
    obs, nxt = jax.random.normal(ks[2], (32, 4)), jax.random.normal(ks[3], (32, 4))
    batch = Batch(obs, jnp.arange(32) % 2, jnp.ones(32), nxt)
    for _ in range(3):
        params, target, opt_state, info = learn(params, target, opt_state, batch)
    print(info)


if __name__ == "__main__":
    main()
