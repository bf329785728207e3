# source: kscalelabs/minppo#20
# blind: nineteenth

import jax
import jax.numpy as jnp
from typing import NamedTuple


class Rollout(NamedTuple):
    obs: jax.Array
    reward: jax.Array
    done: jax.Array


def pendulum_step(state, torque):
    theta, omega = state[..., 0], state[..., 1]
    omega = omega + 0.05 * (15.0 * jnp.sin(theta) + 3.0 * torque)
    theta = theta + 0.05 * omega
    reward = -(theta ** 2 + 0.1 * omega ** 2 + 0.001 * torque ** 2)
    return jnp.stack([theta, omega], -1), reward


def collect(key, state, steps):
    def body(s, k):
        torque = jax.random.uniform(k, s.shape[:1], minval=-2.0, maxval=2.0)
        nxt, reward = pendulum_step(s, torque)
        return nxt, Rollout(s, reward, jnp.abs(nxt[:, 0]) > 6.0)

    last, traj = jax.lax.scan(body, state, jax.random.split(key, steps))
    return last, traj


def value_fn(params, obs):
    return jnp.tanh(obs @ params["w1"]) @ params["w2"]


@jax.jit
def gae(params, traj, last_state, gamma=0.99, lam=0.95):
    states = jnp.concatenate([traj.obs, last_state[None]], axis=0)
    values = value_fn(params, states)  # finding-also

    def backward(carry, x):
        adv, next_value = carry
        reward, done, value = x
        live = 1.0 - done
        delta = reward + gamma * next_value * live - value
        adv = delta + gamma * lam * live * adv
        return (adv, value), adv

    init = (jnp.zeros_like(values[-1]), values[-1])
    _, adv = jax.lax.scan(backward, init, (traj.reward, traj.done, values), reverse=True)  # finding
    return adv, adv + values[:-1]


def main():
    k_init, k_roll, k1, k2 = jax.random.split(jax.random.key(0), 4)
    params = {"w1": jax.random.normal(k1, (2, 16)), "w2": jax.random.normal(k2, (16,)) * 0.1}
    state = jax.random.uniform(k_init, (8, 2), minval=-1.0, maxval=1.0)
    last, traj = collect(k_roll, state, 32)
    adv, targets = gae(params, traj, last)
    print("advantage mean", float(adv.mean()), "target std", float(targets.std()))


if __name__ == "__main__":
    main()
