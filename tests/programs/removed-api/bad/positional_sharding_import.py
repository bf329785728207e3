# source: jax-ml/jax#21398
# blind: first

import jax
import jax.numpy as jnp
from jax.experimental import mesh_utils
from jax.sharding import PositionalSharding  # finding


def shard_rows(x):
    devices = mesh_utils.create_device_mesh((jax.device_count(), 1))
    sharding = PositionalSharding(devices)  # finding-also
    return jax.device_put(x, sharding)


if __name__ == "__main__":
    print(shard_rows(jnp.ones((8, 4))).sharding)
