# source: jax-ml/jax#654
# blind: second

import jax
import jax.numpy as jnp


def displacement(positions, box):
    delta = positions[:, None, :] - positions[None, :, :]
    return delta - box * jnp.round(delta / box)


def safe_distances(delta, keep):
    squared = jnp.sum(delta**2, axis=-1)
    return jnp.sqrt(jnp.where(keep, squared, 1.0))


def energy(positions, charges, box=10.0):
    keep = ~jnp.eye(len(charges), dtype=bool)
    r = safe_distances(displacement(positions, box), keep)
    pair = charges[:, None] * charges[None, :] / r
    return 0.5 * jnp.sum(jnp.where(keep, pair, 0.0))


force = jax.jit(jax.grad(lambda x, q: -energy(x, q)))


def verlet(positions, velocity, charges, dt=1e-3):
    velocity = velocity + 0.5 * dt * force(positions, charges)
    positions = positions + dt * velocity
    return positions, velocity + 0.5 * dt * force(positions, charges)


if __name__ == "__main__":
    x = jax.random.uniform(jax.random.key(0), (5, 3)) * 10
    q = jnp.array([1.0, -1.0, 1.0, -1.0, 0.5])
    out = verlet(x, jnp.zeros_like(x), q)[0]
    assert jnp.all(jnp.isfinite(out))
    print(out)
