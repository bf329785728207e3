# blind: ninth

import jax
import jax.numpy as jnp


class Augment:
    def __init__(self, seed):
        self.key = jax.random.key(seed)

    def epoch_key(self, epoch):
        return jax.random.fold_in(self.key, epoch)

    def __call__(self, epoch, images):
        key = self.epoch_key(epoch)
        flip = jax.random.bernoulli(key, 0.5, (images.shape[0], 1, 1))
        images = jnp.where(flip, images[:, :, ::-1], images)
        return images + 0.01 * jax.random.normal(key, images.shape)  # finding


def epochs(images, n):
    augment = Augment(0)
    return [augment(epoch, images).mean() for epoch in range(n)]


if __name__ == "__main__":
    print(epochs(jnp.ones((8, 4, 4)), 3))
