# operators between arrays and tuples or lists

import jax
import jax.numpy as jnp


@jax.jit
def shift(points):
    offset = (0.5, 0.5)
    return points + jnp.array(offset)  # finding


def to_pixels(coords, image):
    h, w = image.shape[:2]
    coords = jnp.asarray(coords)
    coords *= jnp.array([2.0, 2.0])  # finding
    return jnp.floor(coords * jnp.array((w, h))).astype(jnp.int32)  # finding


def main():
    return shift(jnp.zeros((10, 2)))
