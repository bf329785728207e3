# blind: ninth

import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

RULES = {"embed": P("model", None), "head": P(None, "model")}


def shard(params, mesh):
    return {name: jax.device_put(value, NamedSharding(mesh, RULES[name])) for name, value in params.items()}


def main(vocab=50257):
    mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    padded = -(-vocab // 4) * 4
    params = {"embed": jnp.ones((padded, 64)), "head": jnp.ones((64, padded))}
    return shard(params, mesh)["embed"].sharding


if __name__ == "__main__":
    print(main())
