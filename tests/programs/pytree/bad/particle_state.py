# source: google/flax#853
# blind: nineteenth

from dataclasses import dataclass, replace

import jax
import jax.numpy as jnp


@dataclass  # finding-also
class ParticleSystem:  # finding-also
    position: jax.Array
    velocity: jax.Array
    mass: jax.Array
    time: jax.Array


def soft_gravity(position, mass, eps=0.05):
    diff = position[None, :, :] - position[:, None, :]
    inv = (jnp.sum(diff ** 2, axis=-1) + eps ** 2) ** -1.5
    return jnp.einsum("ijk,ij,j->ik", diff, inv, mass)


@jax.jit  # finding-also
def leapfrog(system, dt):  # finding-also
    half = system.velocity + 0.5 * dt * soft_gravity(system.position, system.mass)
    position = system.position + dt * half
    velocity = half + 0.5 * dt * soft_gravity(position, system.mass)
    return replace(system, position=position, velocity=velocity, time=system.time + dt)


def total_energy(system, eps=0.05):
    kinetic = 0.5 * jnp.sum(system.mass[:, None] * system.velocity ** 2)
    diff = system.position[None] - system.position[:, None]
    dist = jnp.sqrt(jnp.sum(diff ** 2, axis=-1) + eps ** 2)
    pair = system.mass[:, None] * system.mass[None, :] / dist
    potential = -0.5 * (jnp.sum(pair) - jnp.sum(jnp.diag(pair)))
    return kinetic + potential


def plummer_cluster(key, n):
    k_r, k_dir, k_vel = jax.random.split(key, 3)
    radius = (jax.random.uniform(k_r, (n, 1), minval=0.05, maxval=0.95) ** (-2 / 3) - 1.0) ** -0.5
    direction = jax.random.normal(k_dir, (n, 3))
    direction = direction / jnp.linalg.norm(direction, axis=-1, keepdims=True)
    velocity = 0.3 * jax.random.normal(k_vel, (n, 3))
    return ParticleSystem(radius * direction, velocity, jnp.full((n,), 1.0 / n), jnp.float32(0.0))


def main():
    system = plummer_cluster(jax.random.key(0), 64)
    start = total_energy(system)
    for _ in range(200):
        system = leapfrog(system, 0.01)  # finding
    drift = (total_energy(system) - start) / jnp.abs(start)
    print("time", float(system.time), "relative energy drift", float(drift))


if __name__ == "__main__":
    main()
