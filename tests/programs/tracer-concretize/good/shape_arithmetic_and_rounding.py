# source: jax-ml/jax#5373

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


class Patches(nn.Module):
    size: int
    ratio: float = 0.5

    @nn.compact
    def __call__(self, images, key):
        b, h, w, c = images.shape
        rows, cols = h // self.size, int(np.floor(w / self.size))
        x = images.reshape(b, rows, self.size, cols, self.size, c)
        x = x.transpose(0, 1, 3, 2, 4, 5).reshape(b, rows * cols, int(np.prod([self.size, self.size, c])))
        keep = round(rows * cols * (1 - self.ratio))
        order = jax.random.permutation(key, rows * cols)[:keep]
        return nn.Dense(8)(x[:, order])


model = Patches(4)
images = jnp.ones((2, 8, 8, 3))
variables = model.init(jax.random.key(0), images, jax.random.key(1))
print(jax.jit(model.apply)(variables, images, jax.random.key(2)).shape)
