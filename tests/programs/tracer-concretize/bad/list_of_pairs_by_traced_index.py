# source: jax-ml/jax#4309

import jax
import jax.numpy as jnp


def window_pairs(rows, cols):
    pairs = []
    for j in range(rows - 1):
        for i in range(cols - 1):
            pairs.append((j, i))
    return pairs


def make_features(image, window):
    pairs = window_pairs(*image.shape)

    def inner(n):
        j, i = pairs[n]  # finding
        patch = jax.lax.dynamic_slice(image, (j, i), (window, window))
        return patch.mean(), patch.std()

    return jax.vmap(inner)(jnp.arange(len(pairs)))


means, stds = make_features(jnp.arange(30.0).reshape(5, 6), 2)
print(means.shape, stds.shape)
