# blind: tenth

import jax
import jax.numpy as jnp


def epoch_order(key, images, labels):
    key_x, key_y = jax.random.split(key)
    images = jax.random.permutation(key_x, images)
    labels = jax.random.permutation(key_y, labels)  # finding
    return images, labels


def train(images, labels, epochs):
    key = jax.random.key(0)
    total = 0.0
    for epoch in range(epochs):
        x, y = epoch_order(jax.random.fold_in(key, epoch), images, labels)
        total += jnp.mean((x.mean(axis=1) - y) ** 2)
    return total


print(train(jnp.arange(40.0).reshape(10, 4), jnp.arange(10.0), 3))
