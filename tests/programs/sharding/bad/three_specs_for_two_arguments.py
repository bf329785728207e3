# source: jax-ml/jax#34249
# blind: ninth

import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def attention(q, k, v, scale):
    return jax.nn.softmax(q @ jax.lax.all_gather(k, "seq", tiled=True).T * scale) @ jax.lax.all_gather(v, "seq", tiled=True)


class Ring:
    def __init__(self, mesh):
        self.mesh = mesh
        self.specs = (P("seq"), P("seq"), P("seq"))

    def __call__(self, q, k, v, scale):
        run = jax.shard_map(attention, mesh=self.mesh, in_specs=self.specs, out_specs=P("seq"))  # finding-also
        return run(q, k, v, scale)  # finding


if __name__ == "__main__":
    mesh = jax.make_mesh((4,), ("seq",), axis_types=(jax.sharding.AxisType.Auto,))
    x = jnp.ones((16, 8))
    print(Ring(mesh)(x, x, x, 0.3).shape)
