# source: jax-ml/jax#4312
# blind: eighth

import jax
import jax.numpy as jnp


def augment(key, images):
    flip_key, crop_key = jax.random.split(key)
    flips = jax.random.bernoulli(flip_key, 0.5, (images.shape[0],))
    images = jnp.where(flips[:, None, None], images[:, :, ::-1], images)
    offsets = jax.random.randint(crop_key, (images.shape[0],), 0, 4)
    images = jax.vmap(lambda im, o: jnp.roll(im, o, axis=0))(images, offsets)
    return images + 0.05 * jax.random.normal(key, images.shape)  # finding


if __name__ == "__main__":
    print(augment(jax.random.key(3), jnp.ones((2, 8, 8))).shape)
