# source: jax-ml/jax#652

import jax
import jax.numpy as jnp
import numpy as np


def centre(images):
    return (images - 128) / 64.0  # finding


@jax.jit
def logits(params, images):
    x = centre(images).reshape(images.shape[0], -1)
    return x @ params


def main():
    rng = np.random.default_rng(0)
    images = jnp.asarray(rng.integers(0, 255, (4, 8, 8)), dtype=jnp.uint8)
    print(centre(images).min(), logits(jnp.ones((64, 10)), images).shape)


main()
