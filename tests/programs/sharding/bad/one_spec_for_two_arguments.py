# blind: tenth

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("data",))


@functools.partial(jax.shard_map, mesh=mesh, in_specs=(P("data"),), out_specs=P("data"))  # finding-also
def normalise(x, scale):
    total = jax.lax.psum(jnp.sum(x), "data")
    return x * scale / total


batch = jnp.arange(16.0).reshape(8, 2)
print(normalise(batch, jnp.ones(())))  # finding
