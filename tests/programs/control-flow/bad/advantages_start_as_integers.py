# source: instadeepai/Mava#1184
# blind: third

from typing import NamedTuple

import jax
import jax.numpy as jnp


class Transition(NamedTuple):
    reward: jax.Array
    value: jax.Array
    done: jax.Array


def make_gae(gamma, lam):
    def step(carry, tr):
        gae, next_value = carry
        alive = 1.0 - tr.done
        delta = tr.reward + gamma * next_value * alive - tr.value
        gae = delta + gamma * lam * alive * gae
        return (gae, tr.value), gae

    def advantages(traj, last_value):
        init = (jnp.zeros(last_value.shape, jnp.int32), last_value)
        _, adv = jax.lax.scan(step, init, traj, reverse=True)  # finding
        return adv, adv + traj.value

    return advantages


if __name__ == "__main__":
    gae = make_gae(0.99, 0.95)
    traj = Transition(jnp.ones((5, 2)), jnp.zeros((5, 2)), jnp.zeros((5, 2)))
    print(gae(traj, jnp.zeros(2))[0].shape)
