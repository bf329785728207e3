# source: AakashKumarNain/TF_JAX_tutorials#4
# blind: second

import functools

import jax
import jax.numpy as jnp


def random_crop(key, image, size):
    limit = image.shape[0] - size + 1
    top, left = jax.random.randint(key, (2,), 0, limit)
    return jax.lax.dynamic_slice(image, (top, left, 0), (size, size, image.shape[-1]))


def random_flip(key, image):
    return jnp.where(jax.random.bernoulli(key), image[:, ::-1], image)


def jitter(key, image, strength):
    return image * (1 + strength * jax.random.uniform(key, (1, 1, 3), minval=-1.0))


@functools.partial(jax.jit, static_argnames=("size",))
def augment(key, images, size=24):
    def one(key, image):
        key, crop_key = jax.random.split(key)
        image = random_crop(crop_key, image, size)
        key, flip_key = jax.random.split(key)
        image = random_flip(key, image)  # finding-also
        return jitter(key, image, 0.2)  # finding

    return jax.vmap(one)(jax.random.split(key, images.shape[0]), images)


def epochs(key, images, count):
    for epoch in range(count):
        yield augment(jax.random.fold_in(key, epoch), images)


if __name__ == "__main__":
    batch = jnp.ones((4, 32, 32, 3))
    for out in epochs(jax.random.key(0), batch, 2):
        print(out.shape)
