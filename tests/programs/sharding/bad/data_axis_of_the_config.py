# source: google/flax#889
# blind: fourth

import dataclasses
import os

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P


@dataclasses.dataclass(frozen=True)
class MeshConfig:
    shape: tuple = (4, 2)
    axes: tuple = ("dp", "tp")
    batch_axis: str = "data"  # finding-also


class Partitioner:
    def __init__(self, config):
        self.config = config
        devices = np.array(jax.devices()[:8]).reshape(config.shape)
        self.mesh = Mesh(devices, config.axes)

    def batch_sharding(self):
        return NamedSharding(self.mesh, P(self.config.batch_axis))  # finding

    def shard_batch(self, batch):
        return jax.tree.map(lambda x: jax.device_put(x, self.batch_sharding()), batch)


def main():
    partitioner = Partitioner(MeshConfig())
    batch = partitioner.shard_batch({"tokens": jnp.zeros((16, 32), jnp.int32)})
    print(batch["tokens"].sharding)


if __name__ == "__main__":
    main()
