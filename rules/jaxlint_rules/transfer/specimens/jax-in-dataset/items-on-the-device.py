# items of data sets that JAX makes

import grain.python as grain
import jax
import jax.numpy as jnp
import numpy as np
import torch.utils.data as data
from torch.utils.data import Dataset


class Crops(Dataset):
    def __init__(self, images):
        self.images = images

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        image = jnp.asarray(self.images[i], dtype=jnp.float32) / 255.0  # finding
        return jnp.pad(image, ((2, 2), (2, 2), (0, 0)))


class Noise(data.Dataset):
    def __len__(self):
        return 1000

    def __getitem__(self, i):
        return np.asarray(jax.random.normal(jax.random.key(i), (16,)))  # finding


class Scale(grain.MapTransform):
    def map(self, item):
        return jnp.asarray(item) / 255.0  # finding
