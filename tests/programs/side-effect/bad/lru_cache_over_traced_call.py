# source: jax-ml/jax#10437
# blind: first

import functools

import jax
import jax.numpy as jnp


@functools.lru_cache(maxsize=None)  # finding-also
def rotation(n):  # finding-also
    """The discrete Fourier basis, built once."""
    k = jnp.arange(n)  # finding-also
    return jnp.exp(-2j * jnp.pi * k[:, None] * k[None] / n)  # finding


def transform(x):
    return rotation(x.shape[-1]) @ x


fast = jax.jit(transform)


@jax.jit
def power(x):
    return jnp.abs(rotation(x.shape[-1]) @ x) ** 2


if __name__ == "__main__":
    print(fast(jnp.ones(4)), power(jnp.ones(4)))
