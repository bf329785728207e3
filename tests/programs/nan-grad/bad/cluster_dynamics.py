# source: jax-ml/jax#347
# blind: twentieth

"""Molecular dynamics of a small Lennard-Jones cluster."""
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax


@dataclass(frozen=True)
class System:
    sigma: float = 1.0
    epsilon: float = 1.0
    cutoff: float = 2.5
    dt: float = 2e-3
    steps: int = 400


class State(NamedTuple):
    pos: jax.Array
    vel: jax.Array
    force: jax.Array


def pair_distances(pos):
    diff = pos[:, None, :] - pos[None, :, :]
    return jnp.sqrt(jnp.sum(diff**2, axis=-1))  # finding


def pair_energy(r, system):
    s6 = (system.sigma / r) ** 6
    return 4.0 * system.epsilon * (s6**2 - s6)


def potential(pos, system):
    n = pos.shape[0]
    r = pair_distances(pos)  # finding-also
    interacting = ~jnp.eye(n, dtype=bool) & (r < system.cutoff)
    r = jnp.where(interacting, r, system.cutoff)  # finding-also
    energy = jnp.where(interacting, pair_energy(r, system), 0.0)  # finding-also
    return 0.5 * energy.sum()


def forces(pos, system):
    return -jax.grad(potential)(pos, system)  # finding-also


def verlet(state, system):
    vel = state.vel + 0.5 * system.dt * state.force
    pos = state.pos + system.dt * vel
    force = forces(pos, system)
    return State(pos, vel + 0.5 * system.dt * force, force)


@partial(jax.jit, static_argnames="system")
def simulate(pos, vel, system):
    def body(state, _):
        state = verlet(state, system)
        kinetic = 0.5 * jnp.sum(state.vel**2)
        return state, kinetic + potential(state.pos, system)

    start = State(pos, vel, forces(pos, system))
    return lax.scan(body, start, None, length=system.steps)


def lattice(side, spacing=1.15):
    grid = jnp.arange(side) * spacing
    return jnp.stack(jnp.meshgrid(grid, grid, grid, indexing="ij"), axis=-1).reshape(-1, 3)


def main():
    system = System()
    pos = lattice(3)
    vel = 0.3 * jax.random.normal(jax.random.key(0), pos.shape)
    state, energy = simulate(pos, vel - vel.mean(axis=0), system)
    print("energy first", float(energy[0]), "last", float(energy[-1]))
    print("radius", float(jnp.linalg.norm(state.pos - state.pos.mean(axis=0), axis=1).max()))


if __name__ == "__main__":
    main()
