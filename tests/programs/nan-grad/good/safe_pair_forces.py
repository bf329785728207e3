# blind: nineteenth

import functools

import jax
import jax.numpy as jnp


def pair_distance(positions):
    disp = positions[:, None] - positions[None]
    sq = jnp.sum(disp ** 2, axis=-1)
    same = jnp.eye(positions.shape[0], dtype=bool)
    safe = jnp.where(same, 1.0, sq)
    return jnp.where(same, 0.0, jnp.sqrt(safe)), same


def gate_entropy(p):
    positive = p > 0.0
    return -jnp.sum(jnp.where(positive, p * jnp.log(jnp.where(positive, p, 1.0)), 0.0))


def energy(positions):
    dist, same = pair_distance(positions)
    pair = jnp.where(same, 0.0, jnp.exp(-dist / 0.4))
    occupancy = jnp.maximum(1.0 - dist, 0.0).sum(axis=1)
    share = jnp.maximum(occupancy - occupancy.mean(), 0.0)
    share = share / jnp.maximum(share.sum(), 1e-6)
    return 0.5 * pair.sum() + 0.02 * jnp.sum(positions ** 2) - 1e-3 * gate_entropy(share)


@functools.partial(jax.jit, static_argnames=("steps",))
def descend(positions, steps):
    def body(p, _):
        value, grad = jax.value_and_grad(energy)(p)
        return p - 0.05 * grad, (value, jnp.all(jnp.isfinite(grad)))

    return jax.lax.scan(body, positions, None, length=steps)


def main():
    positions = jax.random.normal(jax.random.key(0), (16, 3))
    final, (values, finite) = descend(positions, 150)
    print("energy", float(values[0]), "->", float(values[-1]), "finite", bool(finite.all()))


if __name__ == "__main__":
    main()
