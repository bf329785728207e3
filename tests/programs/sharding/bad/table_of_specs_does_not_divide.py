# source: AI-Hypercomputer/maxdiffusion#188
# blind: ninth

import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

RULES = {"embed": P("model", None), "head": P(None, "model")}


def build_mesh():
    return jax.make_mesh((2, 4), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)


def init(vocab, width):
    return {"embed": jnp.ones((vocab, width)), "head": jnp.ones((width, vocab))}


def shard(params, mesh):
    return {name: jax.device_put(value, NamedSharding(mesh, RULES[name])) for name, value in params.items()}  # finding


def main():
    params = shard(init(50257, 64), build_mesh())
    return params["embed"].sharding


if __name__ == "__main__":
    print(main())
