# source: jax-ml/jax#2630
# blind: first

import jax
import jax.numpy as jnp


def srgb(linear):
    low = 12.92 * linear
    high = 1.055 * linear ** (1 / 2.4) - 0.055  # finding-also
    return jnp.where(linear <= 0.0031308, low, high)  # finding


def photometric_loss(radiance, target):
    return jnp.mean((srgb(radiance) - target) ** 2)


if __name__ == "__main__":
    print(jax.grad(photometric_loss)(jnp.array([0.0, 0.2]), jnp.ones(2)))
