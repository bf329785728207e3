# source: jax-ml/jax#9434
# blind: first

import random

import jax
import jax.numpy as jnp


def crop(image, size):
    top = random.randint(0, image.shape[0] - size)  # finding
    left = random.randint(0, image.shape[1] - size)  # finding-also
    return jax.lax.dynamic_slice(image, (top, left), (size, size))


def preprocess(size):
    @jax.jit
    def apply(images):
        return jax.vmap(lambda im: crop(im, size))(images) / 255.0

    return apply


if __name__ == "__main__":
    aug = preprocess(8)
    for _ in range(3):
        print(aug(jnp.ones((4, 16, 16))).shape)
