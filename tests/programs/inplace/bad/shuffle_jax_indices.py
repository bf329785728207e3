# source: jax-ml/jax#2219

import jax.numpy as jnp
import numpy as np


class Loader:
    def __init__(self, x, y, batch_size, seed=0):
        self.x, self.y = x, y
        self.batch_size = batch_size
        self.order = jnp.arange(x.shape[0])
        self.rng = np.random.RandomState(seed)

    def __iter__(self):
        self.rng.shuffle(self.order)  # finding
        for start in range(0, len(self.order), self.batch_size):
            rows = self.order[start : start + self.batch_size]
            yield self.x[rows], self.y[rows]


def main():
    loader = Loader(jnp.ones((32, 4)), jnp.zeros(32), 8)
    for epoch in range(2):
        for x, y in loader:
            print(epoch, x.shape, y.shape)


main()
