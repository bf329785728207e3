# NumPy batches that an object places on its mesh
import jax
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec as P


class Placer:
    def __init__(self, devices=8):
        self.mesh = jax.make_mesh((devices,), ("batch",))
        self.sharding = NamedSharding(self.mesh, P("batch"))

    def whole(self, batch):
        return jax.device_put(batch, self.sharding)

    def uneven(self, batch):
        return jax.device_put(batch, self.sharding)  # finding

    def unknown(self, batch):
        return jax.device_put(batch, self.sharding)


def batches(count, size):
    rng = np.random.default_rng(0)
    for _ in range(count):
        x = rng.normal(size=(size, 4)).astype(np.float32)
        yield {"x": x, "y": x.sum(axis=1)}


def main(rows):
    placer = Placer()
    for batch in batches(4, size=12):
        placer.uneven(batch)
    for batch in batches(4, size=16):
        placer.whole(batch)
    for batch in batches(4, len(rows)):
        placer.unknown(batch)
    table = np.zeros((12, 3))
    jax.device_put(table, placer.sharding)  # finding
    jax.device_put(np.pad(table, ((0, 4), (0, 0))), placer.sharding)
    jax.device_put(np.asarray(rows), placer.sharding)


main(np.loadtxt("rows.txt"))
