# properties and methods of a NamedTuple

from typing import NamedTuple
import jax
import jax.numpy as jnp

class Walker(NamedTuple):
    position: jax.Array
    legs: int = 2

    @property
    def fallen(self):
        return self.position[2] < 0.3

    @property
    def planar(self):
        return self.position.ndim == 1

    def high(self):
        return self.position[2] > 2.0

def step(walker, torque):
    walker = walker._replace(position=walker.position + torque)
    reward = 0.0 if walker.fallen else 1.0  # finding
    return walker, reward if walker.planar else -reward

@jax.jit
def jump(walker: Walker, torque):
    if walker.high():  # finding
        return walker.position
    return walker.position + torque

def main():
    torques = jnp.ones((5, 3))
    walker, rewards = jax.lax.scan(step, Walker(torques[0]), torques)
    if walker.fallen or walker.high():
        return jump(walker, torques[0])
    return rewards
