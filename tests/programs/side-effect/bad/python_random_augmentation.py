# source: jax-ml/jax#2201
# blind: sixth

"""Augmentation drawn with Python's generator."""
import random

import jax
import jax.numpy as jnp


def augment(image):
    if random.random() < 0.5:  # finding
        image = image[:, ::-1]
    shift = random.randint(-2, 2)  # finding-also
    return jnp.roll(image, shift, axis=0)


@jax.jit
def train_step(w, images, labels):
    images = jax.vmap(augment)(images)

    def loss(w):
        logits = images.reshape(images.shape[0], -1) @ w
        return jnp.mean((logits - labels) ** 2)

    return w - 0.01 * jax.grad(loss)(w)


if __name__ == "__main__":
    w = jnp.zeros(64)
    for _ in range(4):
        w = train_step(w, jnp.ones((3, 8, 8)), jnp.ones(3))
    print(w[:4])
