# source: jax-ml/jax#25541
# blind: seventh

import jax
import jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
import numpy as np

devices = np.array(jax.devices())
mesh = Mesh(devices, ("data", "model"))  # finding


def place(params, batch):
    params = jax.device_put(params, NamedSharding(mesh, P(None, "model")))
    return params, jax.device_put(batch, NamedSharding(mesh, P("data", None)))


@jax.jit
def forward(params, batch):
    return jax.nn.relu(batch @ params)


if __name__ == "__main__":
    params, batch = place(jnp.ones((32, 64)), jnp.ones((8, 32)))
    print(forward(params, batch).sharding)
