# source: GalacticDynamics/galax#692

import dataclasses

import jax
import jax.numpy as jnp


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Particle:
    position: jax.Array
    momentum: jax.Array
    mass: jax.Array

    def __post_init__(self):
        assert self.mass > 0, "mass must be positive"  # finding


def leapfrog(particle, force, dt):
    half = particle.momentum + 0.5 * dt * force(particle.position)
    position = particle.position + dt * half / particle.mass
    momentum = half + 0.5 * dt * force(position)
    return Particle(position, momentum, particle.mass)


def simulate(particle, n_steps, dt=0.01):
    def body(carry, _):
        carry = leapfrog(carry, lambda q: -q, dt)
        return carry, carry.position

    return jax.lax.scan(body, particle, None, length=n_steps)


if __name__ == "__main__":
    start = Particle(jnp.array(1.0), jnp.array(0.0), jnp.array(2.0))
    _, path = simulate(start, 100)
    print(path[-1])
