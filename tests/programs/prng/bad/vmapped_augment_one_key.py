# source: jax-ml/jax#177

import jax
import jax.numpy as jnp


def random_crop(key, image, size=6):
    ky, kx = jax.random.split(key)
    y = jax.random.randint(ky, (), 0, image.shape[0] - size + 1)
    x = jax.random.randint(kx, (), 0, image.shape[1] - size + 1)
    return jax.lax.dynamic_slice(image, (y, x, 0), (size, size, image.shape[2]))


def random_flip(key, image):
    return jnp.where(jax.random.bernoulli(key), image[:, ::-1], image)


def augment(key, image):
    crop_key, flip_key = jax.random.split(key)
    return random_flip(flip_key, random_crop(crop_key, image))


augment_batch = jax.jit(jax.vmap(augment, in_axes=(None, 0)))  # finding


def epoch(images, seed, batch_size=4):
    key = jax.random.key(seed)
    for start in range(0, len(images), batch_size):
        key, sub = jax.random.split(key)
        yield augment_batch(sub, images[start : start + batch_size])  # finding-also


if __name__ == "__main__":
    for batch in epoch(jnp.arange(8 * 8 * 8 * 1.0).reshape(8, 8, 8, 1), 0):
        print(batch[:, 0, 0, 0] % 64)
