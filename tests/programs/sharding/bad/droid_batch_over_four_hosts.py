# source: Physical-Intelligence/openpi#607
# blind: seventh

"""Behaviour cloning on a mesh of four devices for the batch and two for the weights."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec as P

BATCH = 30
HORIZON = 10


def clone_loss(params, obs, action):
    hidden = jax.nn.gelu(obs @ params["in"])
    return jnp.mean((hidden @ params["out"] - action) ** 2)


grad_fn = jax.jit(jax.value_and_grad(clone_loss))


def main():
    mesh = jax.make_mesh((4, 2), ("batch", "fsdp"))
    data_sharding = NamedSharding(mesh, P("batch"))
    params = jax.device_put(
        {"in": jnp.ones((32, 64)) * 0.01, "out": jnp.ones((64, 8)) * 0.01},
        NamedSharding(mesh, P(None, "fsdp")),
    )
    obs = jax.device_put(np.zeros((BATCH, HORIZON, 32), np.float32), data_sharding)  # finding
    action = jax.device_put(np.zeros((BATCH, HORIZON, 8), np.float32), data_sharding)  # finding-also
    loss, grads = grad_fn(params, obs, action)
    print(loss, jax.tree.map(jnp.shape, grads))


if __name__ == "__main__":
    main()
