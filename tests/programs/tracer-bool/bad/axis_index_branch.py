# source: jax-ml/jax#16430

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P

mesh = jax.make_mesh((1,), ("data",), axis_types=(jax.sharding.AxisType.Auto,))


def reduce_and_log(x):
    total = jax.lax.psum(x.sum(), "data")
    if jax.lax.axis_index("data") == 0:  # finding
        total = total / x.size
    return total[None]


sharded = jax.jit(jax.shard_map(reduce_and_log, mesh=mesh, in_specs=P("data"), out_specs=P("data")))

if __name__ == "__main__":
    print(sharded(jnp.arange(8.0)))
