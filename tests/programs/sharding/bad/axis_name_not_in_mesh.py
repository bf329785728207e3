# source: patrick-kidger/equinox#738

import os

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=4")

import jax
import jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import numpy as np


def make_mesh():
    return Mesh(np.array(jax.devices()[:4]).reshape(2, 2), ("data", "model"))


def shardings(mesh):
    return {
        "w1": NamedSharding(mesh, P(None, "model")),
        "w2": NamedSharding(mesh, P("mdl", None)),  # finding
        "x": NamedSharding(mesh, P("data")),
    }


def main():
    spec = shardings(make_mesh())
    w1 = jax.device_put(jnp.ones((4, 8)), spec["w1"])
    w2 = jax.device_put(jnp.ones((8, 4)), spec["w2"])
    x = jax.device_put(jnp.ones((8, 4)), spec["x"])
    return jax.jit(lambda x: jnp.tanh(x @ w1) @ w2)(x)


if __name__ == "__main__":
    print(main().shape)
