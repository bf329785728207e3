# source: jax-ml/jax#3058
# blind: eighteenth

import jax
import jax.numpy as jnp


def cloth_grid(n):
    g = jnp.linspace(0.0, 1.0, n)
    xy = jnp.stack(jnp.meshgrid(g, g, indexing="ij"), -1).reshape(-1, 2)
    return jnp.concatenate([xy, jnp.zeros((n * n, 1))], axis=1)


def edges(n):
    idx = jnp.arange(n * n).reshape(n, n)
    horiz = jnp.stack([idx[:, :-1].ravel(), idx[:, 1:].ravel()], 1)
    vert = jnp.stack([idx[:-1].ravel(), idx[1:].ravel()], 1)
    return jnp.concatenate([horiz, vert])


def contact_energy(pos, anchor, stiffness=10.0):
    dist = jnp.linalg.norm(pos - anchor, axis=-1)  # finding
    return 0.5 * stiffness * jnp.sum(dist**2)


def elastic_energy(pos, springs, rest, k=50.0):
    d = pos[springs[:, 0]] - pos[springs[:, 1]]
    length = jnp.sqrt(jnp.sum(d**2, -1) + 1e-9)
    return 0.5 * k * jnp.sum((length - rest) ** 2)


def total_energy(pos, anchor, springs, rest):
    return elastic_energy(pos, springs, rest) + contact_energy(pos[:2], anchor[:2])


@jax.jit
def forces(pos, anchor, springs, rest):
    return -jax.grad(total_energy)(pos, anchor, springs, rest)


if __name__ == "__main__":
    n = 4
    p0 = cloth_grid(n)
    print(forces(p0, p0, edges(n), 1.0 / (n - 1))[:3])
