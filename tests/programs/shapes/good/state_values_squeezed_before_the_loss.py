# blind: sixteenth

"""Fit a state-value network with haiku; the last axis is squeezed before the loss."""

from typing import NamedTuple

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax

GAMMA, LAMBDA = 0.99, 0.95


def value_fn(obs, is_training):
    h = hk.nets.MLP([64, 64], activate_final=True)(obs)
    if is_training:
        h = hk.dropout(hk.next_rng_key(), 0.1, h)
    return jnp.squeeze(hk.Linear(1)(h), axis=-1)


net = hk.transform(value_fn)
optimizer = optax.adam(1e-3)


class State(NamedTuple):
    params: hk.Params
    opt_state: optax.OptState
    rng: jax.Array


def lambda_returns(rewards, values, last_value):
    def step(carry, x):
        reward, value_next = x
        ret = reward + GAMMA * ((1 - LAMBDA) * value_next + LAMBDA * carry)
        return ret, ret

    next_values = jnp.concatenate([values[1:], last_value[None]])
    _, returns = jax.lax.scan(step, last_value, (rewards, next_values), reverse=True)
    return returns


@jax.jit  # finding-other
def update(state, obs, rewards):
    rng, drop_rng = jax.random.split(state.rng)

    def loss_fn(params):
        values = net.apply(params, drop_rng, obs, True)
        targets = lambda_returns(rewards, values[:-1], values[-1])
        return jnp.mean((values[:-1] - jax.lax.stop_gradient(targets)) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    updates, opt_state = optimizer.update(grads, state.opt_state)
    return State(optax.apply_updates(state.params, updates), opt_state, rng), loss


def main():
    rng = np.random.default_rng(0)
    init_rng, rng_key = jax.random.split(jax.random.PRNGKey(0))
    params = net.init(init_rng, jnp.zeros((1, 6)), True)
    state = State(params, optimizer.init(params), rng_key)
    for step in range(100):
        obs = rng.normal(size=(33, 16, 6)).astype(np.float32)
        rewards = obs[:-1, :, 0]
        state, loss = update(state, obs, rewards)
    print(loss)


if __name__ == "__main__":
    main()
