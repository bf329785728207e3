# inputs and targets under two keys

import jax


def batches(key, x, y):
    kx, ky = jax.random.split(key)
    x = jax.random.permutation(kx, x)
    y = jax.random.permutation(ky, y)  # finding
    return x, y


def shuffle(k1, k2, train_images, train_labels):
    return jax.random.permutation(k1, train_images), jax.random.permutation(k2, train_labels)  # finding
