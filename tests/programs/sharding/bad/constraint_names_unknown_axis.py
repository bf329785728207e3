# source: jax-ml/jax#13926
# blind: first

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

MESH = jax.make_mesh((jax.device_count(),), ("data",))


def shard(x, *names):
    return jax.lax.with_sharding_constraint(x, NamedSharding(MESH, P(*names)))  # finding-also


@jax.jit
def mlp(params, x):
    h = jax.nn.relu(x @ params["up"])
    h = shard(h, "data", "model")  # finding
    return shard(h @ params["down"], "data", None)


if __name__ == "__main__":
    p = {"up": jnp.ones((4, 8)), "down": jnp.ones((8, 4))}
    print(mlp(p, jnp.ones((8, 4))).shape)
