# blind: tenth
# missed: a `for` loop over a dict is not followed key by key

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

RULES = {"embed": PartitionSpec("model", None), "scale": PartitionSpec(None, "model")}


def shard_all(mesh, params):
    out = {}
    for name in params:
        sharding = NamedSharding(mesh, RULES[name])
        out[name] = jax.device_put(params[name], sharding)  # finding
    return out


mesh = Mesh(np.array(jax.devices()[:1]).reshape(1, 1), ("data", "model"))
print(shard_all(mesh, {"embed": jnp.ones((16, 8)), "scale": jnp.ones(8)}))
