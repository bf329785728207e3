# source: jax-ml/jax#7144
# blind: ninth

import jax
import jax.numpy as jnp
from flax import struct


@struct.dataclass
class Worlds:
    positions: jax.Array
    velocities: jax.Array
    maps: jax.Array


def physics(worlds, actions):
    velocities = 0.9 * worlds.velocities + actions
    return worlds.replace(positions=worlds.positions + 0.1 * velocities, velocities=velocities)


class Simulator:
    def __init__(self, count):
        self.count = count
        self.advance = jax.jit(physics)  # finding

    def reset(self):
        return Worlds(jnp.zeros((self.count, 2)), jnp.zeros((self.count, 2)), jnp.zeros((self.count, 64, 64)))

    def run(self, key, steps):
        worlds = self.reset()
        for i in range(steps):
            actions = jax.random.normal(jax.random.fold_in(key, i), (self.count, 2))
            worlds = self.advance(worlds, actions)  # finding-also
        return worlds.positions.mean()


if __name__ == "__main__":
    print(Simulator(1024).run(jax.random.key(0), 10))
