# source: jax-md/jax-md#99
# blind: twenty-first

from typing import NamedTuple

import jax
import jax.numpy as jnp


class PendulumState(NamedTuple):
    theta: jax.Array
    omega: jax.Array


def step(state, torque):
    torque = jnp.clip(torque, -2.0, 2.0)
    accel = 15.0 * jnp.sin(state.theta) + 3.0 * torque
    omega = jnp.clip(state.omega + 0.05 * accel, -8.0, 8.0)
    theta = state.theta + 0.05 * omega
    wrapped = (theta + jnp.pi) % (2 * jnp.pi) - jnp.pi
    cost = wrapped ** 2 + 0.1 * omega ** 2 + 0.001 * torque ** 2
    return PendulumState(theta, omega), -cost


def init_policy(key, hidden=16):
    k1, k2 = jax.random.split(key)
    return {
        "w1": 0.3 * jax.random.normal(k1, (3, hidden)),
        "w2": 0.3 * jax.random.normal(k2, (hidden,)),
    }


def act(params, state):
    obs = jnp.stack([jnp.cos(state.theta), jnp.sin(state.theta), state.omega], axis=-1)
    return 2.0 * jnp.tanh(jnp.tanh(obs @ params["w1"]) @ params["w2"])


def evaluate(params, key, num_envs=16, horizon=100):
    theta = jax.random.uniform(key, (num_envs,), minval=-jnp.pi, maxval=jnp.pi)
    state = PendulumState(theta, jnp.zeros((num_envs,)))
    total = jnp.zeros((num_envs,), dtype=int)  # finding
    length = jnp.zeros((num_envs,), dtype=int)

    def body(carry, _):
        state, total, length = carry
        state, reward = step(state, act(params, state))
        return (state, total + reward, length + 1), reward  # finding-also

    (state, total, length), rewards = jax.lax.scan(  # finding-also
        body, (state, total, length), None, length=horizon)
    return total, length, rewards


def main():
    key = jax.random.key(3)
    params = init_policy(key)
    total, length, rewards = jax.jit(evaluate)(params, jax.random.key(4))
    print("mean return", float(total.mean()), "steps", int(length[0]))


if __name__ == "__main__":
    main()
