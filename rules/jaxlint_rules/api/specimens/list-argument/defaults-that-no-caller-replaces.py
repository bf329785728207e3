# defaults that no caller replaces, and what a caller passes

import jax
import jax.numpy as jnp

MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)


def normalize(image, mean=MEAN, std=STD):
    return (image - mean) / std  # finding


@jax.jit
def preprocess(batch):
    return jax.vmap(normalize)(batch / 255.0)


def shift(points, by):
    return points + by  # finding


def total(losses):
    return jnp.sum(losses)  # finding


@jax.jit
def move(points):
    return total([shift(points, [1.0, 2.0]).mean(), points.mean()])


preprocess(jnp.ones((2, 8, 8, 3)))
move(jnp.ones((4, 2)))
