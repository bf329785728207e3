# source: jax-ml/jax#652
# blind: nineteenth

import jax
import jax.numpy as jnp


def morse(r, depth=4.7, alpha=1.9, r0=0.74):
    return depth * (1.0 - jnp.exp(-alpha * (r - r0))) ** 2


def trimer_energy(coords):
    coords = coords.reshape(3, 3)
    total = 0.0
    for i in range(3):
        for j in range(i):
            total += morse(jnp.linalg.norm(coords[i] - coords[j]))
    return total


energy = jax.jit(trimer_energy)
gradient = jax.jit(jax.grad(trimer_energy))


def central_difference(coords, h):
    coords = jnp.asarray(coords, dtype=jnp.float64)  # finding
    rows = []
    for i in range(coords.size):
        e = jnp.zeros_like(coords).at[i].set(h)
        rows.append((energy(coords + e) - energy(coords - e)) / (2.0 * h))
    return jnp.stack(rows)


def hessian_fd(coords, h):
    coords = jnp.asarray(coords, dtype=jnp.float64)  # finding-also
    cols = []
    for i in range(coords.size):
        e = jnp.zeros_like(coords).at[i].set(h)
        cols.append((gradient(coords + e) - gradient(coords - e)) / (2.0 * h))
    return jnp.stack(cols, axis=1)


def main():
    base = [0.0, 0.0, 0.0, 0.9, 0.1, 0.0, 0.3, 0.8, 0.2]
    h = 1e-8  # finding-also
    exact = gradient(jnp.asarray(base))
    approx = central_difference(base, h)
    print("gradient error", float(jnp.max(jnp.abs(exact - approx))))
    exact_h = jax.hessian(trimer_energy)(jnp.asarray(base))
    approx_h = hessian_fd(base, h)
    print("hessian error", float(jnp.max(jnp.abs(exact_h - approx_h))))


if __name__ == "__main__":
    main()
