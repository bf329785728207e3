# source: jax-ml/jax#17422
# blind: first

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(-1, 1), ("data", "model"))


@jax.jit
def mlp(params, x):
    h = jax.nn.relu(x @ params["up"])
    jax.lax.with_sharding_constraint(h, NamedSharding(mesh, P("data", "model")))  # finding
    return h @ params["down"]


if __name__ == "__main__":
    params = {"up": jnp.ones((8, 32)), "down": jnp.ones((32, 8))}
    print(mlp(params, jnp.ones((16, 8))).sharding)
