"""Two-stream instability: a one-dimensional particle-in-cell simulation.

The expert runs the five hundred steps between two lines as one scan, with the plasma as a pytree.
"""

import functools
from dataclasses import dataclass, replace

import jax
import jax.numpy as jnp
import numpy as np


@jax.tree_util.register_dataclass
@dataclass
class Plasma:
    position: jax.Array
    velocity: jax.Array
    field: jax.Array
    time: float = 0.0


CELLS, BOX, PARTICLES = 64, 4 * np.pi, 8000
DX = BOX / CELLS


def deposit(position):
    """Density on the grid, clouds in cells."""
    cell = position / DX
    left = jnp.floor(cell).astype(int)
    part = cell - left
    density = jnp.zeros(CELLS)
    density = density.at[left % CELLS].add(1 - part)
    density = density.at[(left + 1) % CELLS].add(part)
    return density * CELLS / PARTICLES


def solve_field(density):
    k = 2 * jnp.pi * jnp.fft.rfftfreq(CELLS, DX)
    rho = jnp.fft.rfft(1.0 - density)
    phi = jnp.where(k > 0, rho / jnp.where(k > 0, k**2, 1.0), 0.0)
    return jnp.fft.irfft(-1j * k * phi, n=CELLS)


def gather(field, position):
    cell = position / DX
    left = jnp.floor(cell).astype(int)
    part = cell - left
    return field[left % CELLS] * (1 - part) + field[(left + 1) % CELLS] * part


def advance(plasma, dt):
    velocity = plasma.velocity - 0.5 * dt * gather(plasma.field, plasma.position)
    position = jnp.mod(plasma.position + dt * velocity, BOX)
    field = solve_field(deposit(position))
    velocity = velocity - 0.5 * dt * gather(field, position)
    return replace(plasma, position=position, velocity=velocity, field=field, time=plasma.time + dt)


def energies(plasma):
    kinetic = 0.5 * jnp.mean(plasma.velocity**2) * BOX
    electric = 0.5 * jnp.sum(plasma.field**2) * DX
    return kinetic, electric


@functools.partial(jax.jit, static_argnums=(1, 2), donate_argnums=0)
def simulate(plasma, dt, steps):
    def body(plasma, _):
        plasma = advance(plasma, dt)
        return plasma, energies(plasma)

    return jax.lax.scan(body, plasma, None, length=steps)


@functools.partial(jax.jit, static_argnums=0)
def start(seed):
    key = jax.random.PRNGKey(seed)
    k1, k2 = jax.random.split(key)
    position = jnp.linspace(0, BOX, PARTICLES, endpoint=False)
    position = jnp.mod(position + 0.01 * jnp.sin(position / 2), BOX)
    beam = jnp.where(jax.random.bernoulli(k1, 0.5, (PARTICLES,)), 2.4, -2.4)
    velocity = beam + 0.1 * jax.random.normal(k2, (PARTICLES,))
    return Plasma(position, velocity, solve_field(deposit(position)))


def main():
    plasma = start(0)
    dt = 0.004
    history = []
    for step in range(0, 3000, 500):
        plasma, (kinetic, electric) = simulate(plasma, dt, 500)
        history.append(electric)
        kinetic, electric = kinetic[-1], electric[-1]
        total = kinetic + electric
        print(f"time {plasma.time:.2f} kinetic {kinetic:.3f} electric {electric:.3f} total {total:.3f}")
    electric = np.concatenate(history)
    print(f"largest electric energy {electric.max():.2f}")


if __name__ == "__main__":
    main()
