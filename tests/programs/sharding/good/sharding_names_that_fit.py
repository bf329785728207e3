# source: jax-ml/jax#14273
# blind: first

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

AXES = ("dp", "tp")
mesh = Mesh(np.array(jax.devices()).reshape(-1, 1), AXES)


@partial(jax.shard_map, mesh=mesh, in_specs=(P(), P("dp")), out_specs=(P(), P("dp")))
def loss_and_residual(w, x):
    r = x @ w
    return jax.lax.pmean(jnp.mean(r**2), "dp"), r


@partial(jax.pmap, axis_name="i")
def update(w, x):
    g = jax.lax.pmean(jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w), axis_name="i")
    return w - 0.1 * g


def put(x):
    return jax.device_put(x, NamedSharding(mesh, P(("dp", "tp"), None)))


if __name__ == "__main__":
    print(loss_and_residual(jnp.ones(3), put(jnp.ones((8, 3))))[0])
    n = jax.local_device_count()
    print(update(jnp.ones((n, 3)), jnp.ones((n, 2, 3))))
