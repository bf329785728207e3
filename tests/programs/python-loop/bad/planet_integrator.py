# source: jax-ml/jax#2251
# blind: twenty-first

import jax
import jax.numpy as jnp


def acceleration(pos, mass):
    diff = pos[None, :, :] - pos[:, None, :]
    dist2 = jnp.sum(diff ** 2, axis=-1) + 1e-4
    inv = mass[None, :] / dist2 ** 1.5
    inv = inv * (1.0 - jnp.eye(pos.shape[0]))
    return jnp.sum(inv[:, :, None] * diff, axis=1)


def leapfrog(pos, vel, mass, dt):
    vel = vel + 0.5 * dt * acceleration(pos, mass)
    pos = pos + dt * vel
    vel = vel + 0.5 * dt * acceleration(pos, mass)
    return pos, vel


def energy(pos, vel, mass):
    kinetic = 0.5 * jnp.sum(mass[:, None] * vel ** 2)
    diff = pos[None, :, :] - pos[:, None, :]
    dist = jnp.sqrt(jnp.sum(diff ** 2, axis=-1) + 1e-4)
    pair = mass[:, None] * mass[None, :] / dist
    potential = -0.5 * jnp.sum(pair * (1.0 - jnp.eye(pos.shape[0])))
    return kinetic + potential


def initial_system(key, n=6):
    radius = 1.0 + jnp.arange(n)
    angle = jax.random.uniform(key, (n,), maxval=2 * jnp.pi)
    pos = jnp.stack([radius * jnp.cos(angle), radius * jnp.sin(angle)], axis=1)
    speed = jnp.sqrt(1.0 / radius)
    vel = jnp.stack([-speed * jnp.sin(angle), speed * jnp.cos(angle)], axis=1)
    mass = jnp.full((n,), 1e-3)
    pos = jnp.concatenate([jnp.zeros((1, 2)), pos])
    vel = jnp.concatenate([jnp.zeros((1, 2)), vel])
    return pos, vel, jnp.concatenate([jnp.ones(1), mass])


def simulate(pos, vel, mass, dt, num_steps):
    energies = []
    for _ in range(num_steps):  # finding
        pos, vel = leapfrog(pos, vel, mass, dt)  # finding-also
        energies.append(energy(pos, vel, mass))  # finding-also
    return pos, vel, jnp.stack(energies)


def main():
    pos, vel, mass = initial_system(jax.random.key(0))
    pos, vel, energies = simulate(pos, vel, mass, dt=0.01, num_steps=2000)
    drift = jnp.max(jnp.abs(energies - energies[0])) / jnp.abs(energies[0])
    print("relative energy drift", float(drift))


if __name__ == "__main__":
    main()
