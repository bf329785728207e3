# source: AakashKumarNain/TF_JAX_tutorials#4
# blind: eighteenth

import functools

import jax
import jax.numpy as jnp
import numpy as np


def sample_init(key, kind, shape):
    if kind == "normal":
        return jax.random.normal(key, shape)
    if kind == "uniform":
        return jax.random.uniform(key, shape, minval=-1.0, maxval=1.0)
    return 0.1 * jax.random.truncated_normal(key, -2.0, 2.0, shape)


def crop(key, img, size):
    ky, kx = jax.random.split(key)
    y = jax.random.randint(ky, (), 0, img.shape[0] - size + 1)
    x = jax.random.randint(kx, (), 0, img.shape[1] - size + 1)
    return jax.lax.dynamic_slice(img, (y, x, 0), (size, size, img.shape[2]))


@functools.partial(jax.jit, static_argnames="size")
def augment(key, images, size):
    key, k_flip, k_crop = jax.random.split(key, 3)
    flip = jax.random.bernoulli(k_flip, shape=(images.shape[0], 1, 1, 1))
    images = jnp.where(flip, images[:, :, ::-1], images)
    images = jax.vmap(crop, in_axes=(0, 0, None))(
        jax.random.split(k_crop, images.shape[0]), images, size
    )
    return images + 0.01 * jax.random.normal(key, images.shape)


def main(epochs=2):
    data = np.random.default_rng(0).random((8, 12, 12, 3)).astype(np.float32)
    key = jax.random.key(0)
    key, k_w = jax.random.split(key)
    w = sample_init(k_w, "uniform", (3,))
    means = []
    for _ in range(epochs):
        key, sub = jax.random.split(key)
        means.append((augment(sub, data, 8) @ w).mean())
    print(jnp.stack(means))


if __name__ == "__main__":
    main()
