# source: jax-ml/jax#3058

import jax
import jax.numpy as jnp


def bond_angle(a, b, c):
    u = (a - b) / jnp.sqrt(jnp.sum((a - b) ** 2))
    v = (c - b) / jnp.sqrt(jnp.sum((c - b) ** 2))
    return jnp.arccos(jnp.clip(jnp.dot(u, v), -1.0, 1.0))  # finding


def bending_energy(positions, triples, k=1.0):
    angles = jax.vmap(lambda t: bond_angle(*positions[t]))(triples)
    return 0.5 * k * jnp.sum((angles - jnp.pi) ** 2)


force = jax.jit(lambda r, t: -jax.grad(bending_energy)(r, t))

if __name__ == "__main__":
    chain = jnp.stack([jnp.arange(4.0), jnp.zeros(4), jnp.zeros(4)], axis=-1)
    print(force(chain, jnp.array([[0, 1, 2], [1, 2, 3]])))
