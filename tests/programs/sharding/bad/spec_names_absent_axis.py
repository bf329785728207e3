# source: jax-ml/jax#16517
# blind: first

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P


def make_mesh():
    devices = np.array(jax.devices()).reshape(-1, 1)
    return Mesh(devices, ("dp", "tp"))


def shard_params(params, mesh):
    specs = {"embed": P("tp", None), "dense": P(None, "mp")}  # finding
    return {k: jax.device_put(v, NamedSharding(mesh, specs[k])) for k, v in params.items()}  # finding-also


if __name__ == "__main__":
    p = {"embed": jnp.ones((8, 4)), "dense": jnp.ones((4, 4))}
    print(shard_params(p, make_mesh())["dense"].sharding)
