# source: AI-Hypercomputer/maxdiffusion#188
# blind: first
# missed: not found yet

import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("data",))


@jax.jit
def predict(w, x):
    return x @ w


def main():
    w = jax.device_put(jnp.ones((8, 2)), jax.devices()[0])  # finding-also
    x = jax.device_put(jnp.ones((16, 8)), NamedSharding(mesh, P("data")))
    return predict(w, x)  # finding


if __name__ == "__main__":
    print(main().sharding)
