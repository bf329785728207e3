# blind: tenth

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("batch",))


def local_loss(w, x, y):
    error = x @ w - y
    return jax.lax.pmean(jnp.mean(error**2), "batch")


loss = jax.shard_map(  # finding-also
    local_loss,
    mesh=mesh,
    in_specs=(P(), P("batch"), P("batch")),
    out_specs=P("batch"),  # finding
)
print(loss(jnp.ones(3), jnp.ones((8, 3)), jnp.zeros(8)))
