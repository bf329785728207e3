# blind: eighteenth

import jax
import jax.numpy as jnp

BOX = 5.0


def lj_energy(pos):
    diff = pos[:, None] - pos[None]
    diff = diff - BOX * jnp.round(diff / BOX)
    d2 = jnp.sum(diff**2, -1) + jnp.eye(pos.shape[0])
    inv6 = 1.0 / d2**3
    pair = 4.0 * (inv6**2 - inv6) * (1 - jnp.eye(pos.shape[0]))
    return 0.5 * pair.sum()


force = jax.grad(lambda p: -lj_energy(p))


def verlet(state, i, dt=1e-3):
    pos, vel = state
    vel = vel + 0.5 * dt * force(pos)
    pos = (pos + dt * vel) % BOX
    vel = vel + 0.5 * dt * force(pos)
    energy = lj_energy(pos) + 0.5 * jnp.sum(vel**2)
    print(f"step {i}: energy {energy}")  # finding
    return (pos, vel), energy


@jax.jit
def simulate(pos, vel):
    return jax.lax.scan(verlet, (pos, vel), jnp.arange(50))


def lattice(n_side):
    grid = jnp.arange(n_side) * (BOX / n_side)
    return jnp.stack(jnp.meshgrid(grid, grid, indexing="ij"), -1).reshape(-1, 2)


if __name__ == "__main__":
    start = lattice(3)
    _, energies = simulate(start, jnp.zeros_like(start))
    print(energies[-1] - energies[0])
