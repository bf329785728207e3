# source: jax-ml/jax#27033
# blind: seventh

"""Fourier series of a potential with many terms."""

from functools import partial

import jax
import jax.numpy as jnp

TERMS = 500


@jax.jit
def potential(x, coefficients):
    return sum(coefficients[k] * jnp.cos((k + 1) * jnp.pi * x) for k in range(TERMS))  # finding


@jax.jit
def force(x, coefficients):
    return -jax.vmap(jax.grad(potential), in_axes=(0, None))(x, coefficients)


def main():
    coefficients = 1.0 / (1.0 + jnp.arange(TERMS)) ** 2
    x = jnp.linspace(-1.0, 1.0, 32)
    print(force(x, coefficients))


if __name__ == "__main__":
    main()
