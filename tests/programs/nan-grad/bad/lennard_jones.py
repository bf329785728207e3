# source: jax-ml/jax#654
# blind: twenty-first

import dataclasses
import functools

import jax
import jax.numpy as jnp


@dataclasses.dataclass(frozen=True)
class LJ:
    epsilon: float = 1.0
    sigma: float = 1.0
    cutoff: float = 2.5


def minimum_image(diff, box):
    return diff - box * jnp.round(diff / box)


def pair_energy(dist, lj):
    s6 = (lj.sigma / dist) ** 6
    return 4.0 * lj.epsilon * (s6 ** 2 - s6)


def total_energy(pos, box, lj):
    diff = minimum_image(pos[:, None, :] - pos[None, :, :], box)
    dist = jnp.sqrt(jnp.sum(diff ** 2, axis=-1))  # finding
    active = (dist < lj.cutoff) & ~jnp.eye(pos.shape[0], dtype=bool)
    energy = jnp.where(active, pair_energy(dist, lj), 0.0)  # finding-also
    return 0.5 * energy.sum()


def lattice(cells, spacing):
    axis = spacing * jnp.arange(cells, dtype=jnp.float32)
    grid = jnp.meshgrid(axis, axis, axis, indexing="ij")
    return jnp.stack([g.ravel() for g in grid], axis=1)


@functools.partial(jax.jit, static_argnames=("lj", "steps"))
def relax(pos, box, lj, steps, lr=1e-3):
    def body(pos, _):
        energy, grads = jax.value_and_grad(total_energy)(pos, box, lj)
        move = jnp.clip(lr * grads, -0.05, 0.05)
        return jnp.mod(pos - move, box), energy

    return jax.lax.scan(body, pos, None, length=steps)


def main():
    spacing, cells = 1.2, 3
    box = spacing * cells
    pos = lattice(cells, spacing)
    pos = pos + 0.05 * jax.random.normal(jax.random.key(0), pos.shape)
    final, energies = relax(pos, box, LJ(cutoff=1.7), steps=100)
    print("start energy", float(energies[0]), "end energy", float(energies[-1]))
    print("finite", bool(jnp.isfinite(final).all()))


if __name__ == "__main__":
    main()
