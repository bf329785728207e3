# source: RobertTLange/gymnax#93
# blind: second

from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax


class Transition(NamedTuple):
    obs: jax.Array
    action: jax.Array
    logp: jax.Array
    value: jax.Array
    reward: jax.Array
    done: jax.Array


def init(key):
    k1, k2, k3 = jax.random.split(key, 3)
    return {
        "body": 0.1 * jax.random.normal(k1, (3, 32)),
        "policy": 0.1 * jax.random.normal(k2, (32, 2)),
        "value": 0.1 * jax.random.normal(k3, (32,)),
    }


def network(params, obs):
    h = jnp.tanh(obs @ params["body"])
    return h @ params["policy"], h @ params["value"]


def env_step(key, obs, action):
    push = jnp.where(action == 1, 0.1, -0.1)
    obs = obs + push + 0.01 * jax.random.normal(key, obs.shape)
    done = jnp.abs(obs).max() > 1.0
    return jnp.where(done, jnp.zeros_like(obs), obs), -jnp.sum(obs**2), done


def collect(params, obs, key, length):
    def step(obs, key):
        act_key, env_key = jax.random.split(key)
        logits, value = network(params, obs)
        action = jax.random.categorical(act_key, logits)
        logp = jax.nn.log_softmax(logits)[action]
        new_obs, reward, done = env_step(env_key, obs, action)
        return new_obs, Transition(obs, action, logp, value, reward, done)

    return jax.lax.scan(step, obs, jax.random.split(key, length))


def advantages(batch, last_value, discount=0.99, lam=0.95):
    def back(carry, t):
        gae, next_value = carry
        delta = t.reward + discount * next_value * (1 - t.done) - t.value
        gae = delta + discount * lam * (1 - t.done) * gae
        return (gae, t.value), gae

    _, gae = jax.lax.scan(back, (jnp.zeros(()), last_value), batch, reverse=True)
    return gae


def loss_fn(params, batch, gae, clip=0.2):
    logits, value = jax.vmap(network, in_axes=(None, 0))(params, batch.obs)
    logp = jnp.take_along_axis(jax.nn.log_softmax(logits), batch.action[:, None], axis=1)[:, 0]
    ratio = jnp.exp(logp - batch.logp)
    gae_n = (gae - gae.mean()) / (gae.std() + 1e-8)
    policy = -jnp.minimum(ratio * gae_n, jnp.clip(ratio, 1 - clip, 1 + clip) * gae_n).mean()
    return policy + 0.5 * jnp.mean((value - (gae + batch.value)) ** 2)


def make_train(tx, iterations, epochs=2, length=16):
    def train(key):
        key, init_key = jax.random.split(key)
        params = init(init_key)

        def iteration(carry, key):
            params, opt_state, obs = carry
            obs, batch = collect(params, obs, key, length)
            gae = advantages(batch, network(params, obs)[1])

            def epoch(carry, _):
                params, opt_state = carry
                loss, grads = jax.value_and_grad(loss_fn)(params, batch, gae)
                updates, opt_state = tx.update(grads, opt_state)
                return (optax.apply_updates(params, updates), opt_state), loss

            (params, opt_state), losses = jax.lax.scan(epoch, (params, opt_state), None, epochs)
            return (params, opt_state, obs), losses.mean()

        start = params, tx.init(params), jnp.zeros(3)
        return jax.lax.scan(iteration, start, jax.random.split(key, iterations))[1]

    return train


if __name__ == "__main__":
    train = jax.jit(jax.vmap(make_train(optax.adam(1e-3), 5)))
    print(train(jax.random.split(jax.random.key(0), 3)).shape)
