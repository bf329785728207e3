# items of NumPy, batches of JAX, and what is made once

import jax
import jax.numpy as jnp
import numpy as np
from torch.utils.data import DataLoader, Dataset


class Crops(Dataset):
    def __init__(self, images):
        self.images = np.asarray(jnp.asarray(images) / 255.0)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        return np.pad(self.images[i].astype(np.float32), ((2, 2), (2, 2), (0, 0)))


class Table:
    def __getitem__(self, i):
        return jnp.asarray(i)


def batches(images):
    for batch in DataLoader(Crops(images), batch_size=64, shuffle=True):
        yield jax.device_put(np.asarray(batch))
