# blind: twenty-first
# missed: which axis is the time

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp

NUM_ENVS = 8
HORIZON = 32


class Rollout(NamedTuple):
    reward: jax.Array
    value: jax.Array
    next_value: jax.Array
    done: jax.Array


def env_step(pos, action):
    pos = 0.9 * pos + action
    return pos, -jnp.square(pos), jnp.abs(pos) > 3.0


def collect(key):
    def body(pos, key_t):
        action = 0.5 * jax.random.normal(key_t, (NUM_ENVS,))
        new_pos, reward, done = env_step(pos, action)
        out = Rollout(reward, -pos ** 2, -new_pos ** 2, done)
        return jnp.where(done, 0.0, new_pos), out

    keys = jax.random.split(key, HORIZON)
    _, traj = jax.lax.scan(body, jnp.ones(NUM_ENVS), keys)
    return traj


def gae(reward, value, next_value, done, gamma, lam):
    def body(adv, xs):
        r, v, nv, d = xs
        alive = 1.0 - d
        delta = r + gamma * nv * alive - v
        adv = delta + gamma * lam * alive * adv
        return adv, adv

    done = done.astype(jnp.float32)
    _, adv = jax.lax.scan(body, 0.0, (reward, value, next_value, done), reverse=True)
    return adv, adv + value


@jax.jit
def targets(traj):
    batched = jax.vmap(partial(gae, gamma=0.99, lam=0.95))  # finding-also
    return batched(traj.reward, traj.value, traj.next_value, traj.done)  # finding


def main():
    traj = collect(jax.random.key(0))
    adv, ret = targets(traj)
    last_delta = (traj.reward + 0.99 * traj.next_value * (1 - traj.done) - traj.value)[-1]
    print("advantage shape", adv.shape, "returns shape", ret.shape)
    print("advantage at the last step", adv[-1, :4])
    print("td error at the last step ", last_delta[:4])


if __name__ == "__main__":
    main()
