# source: jax-ml/jax#18951
# blind: sixth

"""Per-shard losses, one number a device."""
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P


def build(mesh):
    def shard_loss(w, x, y):
        return jnp.mean((x @ w - y) ** 2)

    return jax.shard_map(  # finding-also
        shard_loss,
        mesh=mesh,
        in_specs=(P(), P("data"), P("data")),
        out_specs=P("data"),  # finding
    )


def main():
    mesh = Mesh(np.array(jax.devices()), ("data",))
    losses = build(mesh)(jnp.ones(3), jnp.ones((8, 3)), jnp.zeros(8))  # finding-also
    print(losses.shape, losses.max())


if __name__ == "__main__":
    main()
