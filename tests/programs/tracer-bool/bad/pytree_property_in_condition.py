# source: google/brax#353
# blind: first

from typing import NamedTuple

import jax
import jax.numpy as jnp


class Walker(NamedTuple):
    position: jax.Array
    velocity: jax.Array
    ticks: jax.Array

    @property
    def fallen(self):
        return self.position[2] < 0.3


def integrate(walker, torque):
    velocity = walker.velocity + 0.02 * torque
    return walker._replace(
        position=walker.position + 0.02 * velocity, velocity=velocity, ticks=walker.ticks + 1
    )


def step(walker, torque):
    walker = integrate(walker, torque)
    reward = 0.0 if walker.fallen else 1.0  # finding
    return walker, reward


@jax.jit
def rollout(walker, torques):
    return jax.lax.scan(step, walker, torques)


if __name__ == "__main__":
    start = Walker(jnp.ones(3), jnp.zeros(3), jnp.array(0))
    print(rollout(start, jnp.zeros((5, 3)))[1])
