# source: jax-ml/jax#26946
# blind: first

import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

VOCAB, DIM = 50257, 16
mesh = jax.make_mesh((8,), ("model",))


def init_embedding(key):
    table = 0.02 * jax.random.normal(key, (VOCAB, DIM))
    return jax.device_put(table, NamedSharding(mesh, P("model", None)))  # finding


if __name__ == "__main__":
    print(init_embedding(jax.random.key(0)).shape)
