# the spec of an array's sharding beside tuples and specs

import jax
from jax.sharding import NamedSharding, PartitionSpec


def check(mesh, batch):
    sharding = NamedSharding(mesh, PartitionSpec("data"))
    for name, leaf in batch.items():
        leaf = jax.device_put(leaf, sharding)
        if leaf.sharding.spec != ("data",):  # finding
            raise ValueError(name)
        if leaf.sharding.spec != PartitionSpec("data") or tuple(leaf.sharding.spec) != ("data",):
            raise ValueError(name)
        if leaf.shape == (3,) and leaf.sharding.spec[0] == "data":
            return leaf
    return sharding.spec == ("data",)  # finding
