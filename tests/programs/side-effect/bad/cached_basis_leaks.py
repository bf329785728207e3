# source: jax-ml/jax#2884

import functools

import jax
import jax.numpy as jnp


@functools.lru_cache(maxsize=None)  # finding-also
def dct_basis(n):  # finding-also
    k = jnp.arange(n)[:, None]  # finding-also
    return jnp.cos(jnp.pi * (jnp.arange(n) + 0.5) * k / n)  # finding


@jax.jit
def compress(x):
    coefficients = dct_basis(x.shape[-1]) @ x
    return jnp.where(jnp.abs(coefficients) > 0.1, coefficients, 0.0)


def reconstruct(coefficients):
    basis = dct_basis(coefficients.shape[-1])
    return jnp.linalg.solve(basis, coefficients)


if __name__ == "__main__":
    x = jnp.sin(jnp.linspace(0, 3, 16))
    print(reconstruct(compress(x)))
