# source: jax-ml/jax#654
# blind: nineteenth

import functools

import jax
import jax.numpy as jnp


def displacement_table(positions):
    return positions[:, None, :] - positions[None, :, :]


def cluster_energy(positions, charges, sigma=0.4):
    disp = displacement_table(positions)
    dist = jnp.linalg.norm(disp, axis=-1)  # finding
    self_pair = jnp.eye(positions.shape[0], dtype=bool)
    repulsion = jnp.exp(-dist / sigma)
    coulomb = charges[:, None] * charges[None, :] * jnp.tanh(dist)
    pair = jnp.where(self_pair, 0.0, repulsion + 0.1 * coulomb)  # finding-also
    return 0.5 * jnp.sum(pair) + 0.02 * jnp.sum(positions ** 2)


@functools.partial(jax.jit, static_argnames=("steps",))
def fire_relax(positions, charges, steps, dt=0.05):
    force_fn = jax.grad(lambda p: -cluster_energy(p, charges))

    def body(state, _):
        pos, vel, alpha = state
        force = force_fn(pos)
        power = jnp.sum(force * vel)
        f_hat = force / jnp.sqrt(jnp.sum(force ** 2) + 1e-12)
        speed = jnp.sqrt(jnp.sum(vel ** 2) + 1e-12)
        mixed = (1.0 - alpha) * vel + alpha * f_hat * speed
        vel = jnp.where(power > 0.0, mixed, 0.0) + dt * force
        alpha = jnp.where(power > 0.0, 0.99 * alpha, 0.1)
        pos = pos + dt * vel
        return (pos, vel, alpha), cluster_energy(pos, charges)

    init = (positions, jnp.zeros_like(positions), jnp.float32(0.1))
    (pos, _, _), energies = jax.lax.scan(body, init, None, length=steps)
    return pos, energies


def main():
    k_pos, k_q = jax.random.split(jax.random.key(0))
    positions = jax.random.normal(k_pos, (20, 3))
    charges = jnp.where(jax.random.bernoulli(k_q, 0.5, (20,)), 1.0, -1.0)
    print("start", float(cluster_energy(positions, charges)))
    final, energies = fire_relax(positions, charges, 200)
    print("relaxed", float(energies[-1]), "extent", float(jnp.abs(final).max()))


if __name__ == "__main__":
    main()
