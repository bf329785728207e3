# source: alshedivat/lola#12
# blind: twentieth

"""Policy-gradient update on rollouts from parallel point-mass environments."""
from functools import partial

import jax
import jax.numpy as jnp
import optax
from jax import lax

ENVS, HORIZON, GAMMA = 16, 32, 0.97


def init_params(key):
    return {"w": 0.1 * jax.random.normal(key, (2, 3)), "b": jnp.zeros(3)}


def logits_of(params, obs):
    return obs @ params["w"] + params["b"]


def env_step(obs, action):
    push = (action - 1).astype(jnp.float32) * 0.1
    vel = obs[:, 1] + push
    pos = obs[:, 0] + 0.1 * vel
    return jnp.stack([pos, vel], axis=1), -(pos**2) - 0.1 * vel**2


def rollout(params, key):
    """Scans over time; every output has a leading time axis."""
    key, k_init = jax.random.split(key)

    def body(obs, key):
        action = jax.random.categorical(key, logits_of(params, obs))
        nxt, reward = env_step(obs, action)
        return nxt, (obs, action, reward)

    start = jax.random.normal(k_init, (ENVS, 2))
    return lax.scan(body, start, jax.random.split(key, HORIZON))[1]


def discounted(rewards):
    """Returns of a single environment, rewards: (time,)."""
    _, ret = lax.scan(lambda acc, r: (r + GAMMA * acc,) * 2, 0.0, rewards, reverse=True)
    return ret


def flatten(x):
    return x.reshape((ENVS * HORIZON,) + x.shape[2:])  # finding-also


def make_update(tx):
    @partial(jax.jit, donate_argnums=(0, 1))
    def update(params, opt_state, key):
        obs, action, reward = rollout(params, key)
        returns = jax.vmap(discounted, in_axes=1)(reward)  # finding
        returns = (returns - returns.mean()) / (returns.std() + 1e-6)
        obs, action, returns = flatten(obs), flatten(action), flatten(returns)  # finding-also

        def loss_fn(params):
            logp = jax.nn.log_softmax(logits_of(params, obs))
            chosen = jnp.take_along_axis(logp, action[:, None], axis=1)[:, 0]
            return -jnp.mean(chosen * returns)

        grads = jax.grad(loss_fn)(params)
        updates, opt_state = tx.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state, reward.mean()

    return update


def main(iterations=60):
    key, k_init = jax.random.split(jax.random.key(0))
    params = init_params(k_init)
    tx = optax.adam(3e-2)
    opt_state, update = tx.init(params), make_update(tx)
    for _ in range(iterations):
        key, sub = jax.random.split(key)
        params, opt_state, mean_reward = update(params, opt_state, sub)
    print("mean reward", float(mean_reward))


if __name__ == "__main__":
    main()
