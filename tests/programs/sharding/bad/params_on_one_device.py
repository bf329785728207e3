# source: keras-team/keras#18681
# blind: seventh
# missed: devices of arrays are not followed

"""Linear probe whose batch is spread over the devices."""

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P


@jax.jit
def probe_loss(params, x, y):
    logits = x @ params["w"] + params["b"]
    return jnp.mean((logits - y) ** 2)


def main():
    mesh = jax.make_mesh((jax.device_count(),), ("data",))
    rows = NamedSharding(mesh, P("data"))
    params = {"w": jnp.zeros((16, 1)), "b": jnp.zeros(1)}
    params = jax.device_put(params, jax.devices()[0])  # finding-also
    x = jax.device_put(jnp.ones((64, 16)), rows)
    y = jax.device_put(jnp.ones((64, 1)), rows)
    print(probe_loss(params, x, y))  # finding


if __name__ == "__main__":
    main()
