# source: jax-ml/jax#4177
# blind: seventh

"""Repulsion of discs; a pair that coincides is skipped, or so it was meant."""

import jax
import jax.numpy as jnp


def pair_energy(a, b, radius):
    distance = jnp.sqrt(jnp.sum((a - b) ** 2))  # finding
    overlap = jnp.maximum(2.0 * radius - distance, 0.0)
    return jnp.where(distance > 0.0, overlap**2, 0.0)  # finding-also


def total_energy(centres, radius):
    each = jax.vmap(jax.vmap(pair_energy, (None, 0, None)), (0, None, None))
    return 0.5 * each(centres, centres, radius).sum()


@jax.jit
def settle(centres, radius):
    def body(_, c):
        return c - 0.1 * jax.grad(total_energy)(c, radius)

    return jax.lax.fori_loop(0, 10, body, centres)


if __name__ == "__main__":
    print(settle(jax.random.normal(jax.random.key(0), (5, 2)), 0.5))
