import jax
import jax.numpy as jnp
from jax.experimental import mesh_utils
from jax.sharding import PositionalSharding


def shard_rows(x):
    devices = mesh_utils.create_device_mesh((jax.device_count(), 1))
    sharding = PositionalSharding(devices)
    return jax.device_put(x, sharding)


if __name__ == "__main__":
    print(shard_rows(jnp.ones((8, 4))).sharding)
