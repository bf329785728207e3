# source: jax-ml/jax#12258
# blind: seventh

import os

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

print(f"running on {jax.device_count()} devices")  # finding-also
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"  # finding


def main():
    mesh = jax.make_mesh((8,), ("x",))
    x = jax.device_put(jnp.arange(64.0), NamedSharding(mesh, P("x")))
    print(jnp.sum(x))


if __name__ == "__main__":
    main()
