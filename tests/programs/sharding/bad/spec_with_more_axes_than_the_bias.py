# blind: tenth

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(-1, 1), ("data", "model"))


def place(params):
    specs = {"kernel": P(None, "model"), "bias": P(None, "model")}
    return {name: jax.device_put(params[name], NamedSharding(mesh, specs[name])) for name in params}  # finding


params = {"kernel": jnp.zeros((128, 256)), "bias": jnp.zeros((256,))}
print(place(params)["bias"].sharding)
