# blind: ninth

import jax
import jax.numpy as jnp


def bond_angle(a, b, c):
    u, v = a - b, c - b
    cross = jnp.linalg.norm(jnp.cross(u, v) + 1e-6)
    return jnp.arctan2(cross, jnp.dot(u, v))


def cosine_report(a, b, c):
    u, v = a - b, c - b
    cosine = jnp.dot(u, v) / (jnp.linalg.norm(u) * jnp.linalg.norm(v))
    return jnp.degrees(jnp.arccos(jnp.clip(cosine, -1.0, 1.0)))


if __name__ == "__main__":
    a, b, c = jnp.array([0.0, 1, 0]), jnp.zeros(3), jnp.array([1.0, 0, 0])
    print(jax.grad(bond_angle)(a, b, c), cosine_report(a, b, c))
