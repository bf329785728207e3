# source: jax-ml/jax#15886
# blind: first

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P


def make_shardings(n):
    mesh = jax.make_mesh((n, 1), ("dp", "tp"))
    return {
        "batch": NamedSharding(mesh, P("dp")),
        "kernel": NamedSharding(mesh, P(None, "mp")),  # finding
    }


def place(params, batch):
    shardings = make_shardings(jax.device_count())
    params = jax.device_put(params, shardings["kernel"])
    return params, jax.device_put(batch, shardings["batch"])


if __name__ == "__main__":
    print(place(jnp.ones((8, 8)), jnp.ones((8, 8)))[0].sharding)
