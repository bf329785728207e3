# source: jax-ml/jax#16430

import jax
import jax.numpy as jnp


def check(x, mask):
    if x.ndim != 2:
        raise ValueError(f"expected two axes, got {x.ndim}")
    if mask is not None and mask.shape != x.shape[:1]:
        raise ValueError("mask and x disagree")


def masked_mean(x, mask=None):
    check(x, mask)
    if mask is None:
        return x.mean(axis=0)
    weights = mask / jnp.maximum(mask.sum(), 1)
    return weights @ x


mean = jax.jit(masked_mean)


def main():
    x = jnp.arange(12.0).reshape(4, 3)
    print(mean(x), mean(x, jnp.array([1, 0, 1, 0])))


main()
