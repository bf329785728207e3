# source: jax-ml/jax#9635
# blind: nineteenth

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax


class LearnerState(NamedTuple):
    online: Any
    target: Any
    opt_state: Any
    steps: jax.Array


def init_q(key, obs_dim, actions, hidden=32):
    k1, k2 = jax.random.split(key)
    return {
        "w1": jax.random.normal(k1, (obs_dim, hidden)) * obs_dim ** -0.5,
        "w2": jax.random.normal(k2, (hidden, actions)) * hidden ** -0.5,
    }


def q_fn(params, obs):
    return jax.nn.relu(obs @ params["w1"]) @ params["w2"]


tx = optax.adam(1e-3)


def init_learner(key, obs_dim, actions):
    online = init_q(key, obs_dim, actions)
    return LearnerState(online, online, tx.init(online), jnp.int32(0))  # finding


@functools.partial(jax.jit, donate_argnums=0)  # finding-also
def learn(state, batch, gamma=0.99, tau=0.01):
    obs, action, reward, next_obs = batch
    best = jnp.argmax(q_fn(state.online, next_obs), axis=-1)
    q_next = jnp.take_along_axis(q_fn(state.target, next_obs), best[:, None], axis=-1)[:, 0]
    goal = jax.lax.stop_gradient(reward + gamma * q_next)

    def loss_fn(params):
        q = jnp.take_along_axis(q_fn(params, obs), action[:, None], axis=-1)[:, 0]
        return jnp.mean(optax.huber_loss(q, goal))

    loss, grads = jax.value_and_grad(loss_fn)(state.online)
    updates, opt_state = tx.update(grads, state.opt_state)
    online = optax.apply_updates(state.online, updates)
    target = optax.incremental_update(online, state.target, tau)
    return LearnerState(online, target, opt_state, state.steps + 1), loss


def main():
    key = jax.random.key(0)
    state = init_learner(key, 6, 3)
    for step in range(50):
        k_o, k_a, k_r = jax.random.split(jax.random.fold_in(key, step), 3)
        obs = jax.random.normal(k_o, (64, 6))
        action = jax.random.randint(k_a, (64,), 0, 3)
        reward = obs[:, 0] * (action == 1)
        next_obs = 0.9 * obs + 0.1 * jax.random.normal(k_r, obs.shape)
        state, loss = learn(state, (obs, action, reward, next_obs))  # finding-also
    print("steps", int(state.steps), "loss", float(loss))


if __name__ == "__main__":
    main()
