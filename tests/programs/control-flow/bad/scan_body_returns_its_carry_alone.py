# source: jax-ml/jax#649
# blind: ninth

from typing import NamedTuple

import jax
import jax.numpy as jnp


class Particle(NamedTuple):
    position: jax.Array
    velocity: jax.Array


class Leapfrog:
    def __init__(self, potential, dt):
        self.force = jax.grad(lambda x: -potential(x))
        self.dt = dt

    def step(self, particle, _):
        half = particle.velocity + 0.5 * self.dt * self.force(particle.position)
        position = particle.position + self.dt * half
        return Particle(position, half + 0.5 * self.dt * self.force(position))

    def run(self, particle, n):
        return jax.lax.scan(self.step, particle, None, length=n)  # finding


if __name__ == "__main__":
    flow = Leapfrog(lambda x: jnp.sum(x**4), 0.1)
    print(flow.run(Particle(jnp.array([1.0, 0.0, 0.5]), jnp.zeros(3)), 10)[0])
