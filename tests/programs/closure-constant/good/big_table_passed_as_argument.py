# source: jax-ml/jax#10596
# blind: eighteenth

import functools

import jax
import jax.numpy as jnp
import numpy as np

SOBEL = jnp.array([[-1.0, 0.0, 1.0], [-2.0, 0.0, 2.0], [-1.0, 0.0, 1.0]])


def edge_energy(img):
    gx = jax.scipy.signal.convolve2d(img, SOBEL, mode="same")
    gy = jax.scipy.signal.convolve2d(img, SOBEL.T, mode="same")
    return jnp.mean(gx**2 + gy**2)


@functools.partial(jax.jit, static_argnames="batch")
def sample_energy(data, key, batch):
    idx = jax.random.randint(key, (batch,), 0, data.shape[0])
    return jax.vmap(edge_energy)(data[idx])


class Dataset:
    def __init__(self, n, seed=0):
        images = np.random.default_rng(seed).random((n, 16, 16), dtype=np.float32)
        self.images = jnp.asarray(images)

    def energies(self, key, n_batches, batch=8):
        keys = jax.random.split(key, n_batches)
        return jnp.stack([sample_energy(self.images, k, batch) for k in keys])  # finding-other


if __name__ == "__main__":
    print(Dataset(2000).energies(jax.random.key(0), 3).mean())
