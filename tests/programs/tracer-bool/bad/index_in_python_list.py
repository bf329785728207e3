# source: jax-ml/jax#16430

import jax
import jax.numpy as jnp

LEVELS = [1, 2, 4, 8]


def level_of(resolution):
    return LEVELS.index(resolution)  # finding


def blur(image, resolution):
    width = 2 * level_of(resolution) + 1
    kernel = jnp.ones(width) / width
    return jnp.apply_along_axis(lambda row: jnp.convolve(row, kernel, mode="same"), 1, image)


@jax.jit
def pyramid_loss(image, target, resolution):
    return jnp.mean((blur(image, resolution) - target) ** 2)


def main():
    image = jnp.ones((8, 8))
    print(sum(pyramid_loss(image, image * 0.5, r) for r in LEVELS))


main()
