# source: Physical-Intelligence/openpi#607
# blind: seventh

"""Behaviour cloning on a mesh of four devices for the batch and two for the weights."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec as P

BATCH = 32
HORIZON = 10


def clone_loss(params, obs, action):
    hidden = jax.nn.gelu(obs @ params["in"])
    return jnp.mean((hidden @ params["out"] - action) ** 2)


@functools.partial(jax.jit, donate_argnums=0)
def update(params, obs, action):
    loss, grads = jax.value_and_grad(clone_loss)(params, obs, action)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), loss


def main():
    mesh = jax.make_mesh((4, 2), ("batch", "fsdp"))
    data_sharding = NamedSharding(mesh, P("batch"))
    params = jax.device_put(
        {"in": jnp.ones((32, 64)) * 0.01, "out": jnp.ones((64, 8)) * 0.01},
        NamedSharding(mesh, P(None, "fsdp")),
    )
    obs = jax.device_put(np.zeros((BATCH, HORIZON, 32), np.float32), data_sharding)
    action = jax.device_put(np.zeros((BATCH, HORIZON, 8), np.float32), data_sharding)
    params, loss = update(params, obs, action)
    print(loss)


if __name__ == "__main__":
    main()
