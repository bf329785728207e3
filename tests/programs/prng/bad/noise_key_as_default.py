# source: deepmind/dm-haiku#203
# blind: first

import jax
import jax.numpy as jnp


def augment(images, key=jax.random.PRNGKey(0), strength=0.1):  # finding
    """Adds noise and a random horizontal flip."""
    k_noise, k_flip = jax.random.split(key)
    images = images + strength * jax.random.normal(k_noise, images.shape)
    flip = jax.random.bernoulli(k_flip, 0.5, (images.shape[0], 1, 1))
    return jnp.where(flip, images[:, :, ::-1], images)


def batches(data, n):
    for i in range(n):
        yield augment(data[i * 4 : (i + 1) * 4])  # finding-also


if __name__ == "__main__":
    for b in batches(jnp.ones((16, 8, 8)), 4):
        print(b.shape)
