# source: jax-ml/jax#34249
# blind: ninth

import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"

from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P

mesh = jax.make_mesh((4,), ("data",), axis_types=(jax.sharding.AxisType.Auto,))


def block_loss(w, x, y):
    return jnp.mean((x @ w - y) ** 2)


@jax.jit
@partial(jax.shard_map, mesh=mesh, in_specs=(P(), P("data"), P("data")), out_specs=P())  # finding-also
def loss(w, x, y):
    return block_loss(w, x, y)  # finding


if __name__ == "__main__":
    print(loss(jnp.ones(4), jnp.ones((16, 4)), jnp.zeros(16)))
