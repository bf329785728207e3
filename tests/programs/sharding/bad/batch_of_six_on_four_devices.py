# source: tenstorrent/tt-metal#22977
# blind: second
# missed: the size of the slices is in the data

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

NUM_SHARDS = 4
BATCH = 30


class Loader:
    def __init__(self, data, batch_size, sharding):
        self.data = data
        self.batch_size = batch_size
        self.sharding = sharding

    def __iter__(self):
        for start in range(0, len(self.data) - self.batch_size + 1, self.batch_size):
            rows = self.data[start : start + self.batch_size]
            yield jax.device_put(rows, self.sharding)  # finding-also


@jax.jit
def loss(w, x):
    return jnp.mean((x @ w) ** 2)


def main():
    mesh = jax.make_mesh((NUM_SHARDS,), ("data",))
    sharding = NamedSharding(mesh, PartitionSpec("data"))
    data = np.random.default_rng(0).normal(size=(120, 5)).astype(np.float32)
    w = jnp.ones(5)
    for x in Loader(data, BATCH, sharding):  # finding
        w = w - 0.1 * jax.grad(loss)(w, x)
    print(w)


if __name__ == "__main__":
    main()
