# source: jax-ml/jax#1141
# blind: third

import random

import jax
import jax.numpy as jnp


class Compose:
    def __init__(self, *transforms):
        self.transforms = transforms

    def __call__(self, image):
        for transform in self.transforms:
            image = transform(image)
        return image


def maybe_flip(p):
    def transform(image):
        if random.random() < p:  # finding
            return image[:, ::-1]
        return image

    return transform


def brightness(scale):
    return lambda image: jnp.clip(image * scale, 0.0, 1.0)


pipeline = Compose(maybe_flip(0.5), brightness(1.2))
augment = jax.jit(jax.vmap(pipeline))

if __name__ == "__main__":
    batch = jnp.arange(12.0).reshape(1, 3, 4) / 12
    print({bool((augment(batch) == augment(batch)).all()) for _ in range(20)})
