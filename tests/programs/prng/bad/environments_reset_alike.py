# source: google-deepmind/mujoco_playground#56
# blind: ninth

import jax
import jax.numpy as jnp
from flax import struct


@struct.dataclass
class State:
    angle: jax.Array
    speed: jax.Array


class Pendulum:
    def reset(self, rng, gravity):
        a, b = jax.random.split(rng)
        angle = jax.random.uniform(a, (), minval=-jnp.pi, maxval=jnp.pi)
        return State(angle, gravity * 0.01 * jax.random.normal(b))


class VmapWrapper:
    def __init__(self, env):
        self.env = env

    def reset(self, rng, gravity):
        return jax.vmap(self.env.reset, in_axes=(None, 0))(rng, gravity)  # finding


def main(seed=0, n=16):
    env = VmapWrapper(Pendulum())
    return env.reset(jax.random.key(seed), jnp.linspace(9.0, 10.0, n))


if __name__ == "__main__":
    print(main().angle)
