# source: google/flax#1047

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("data",))


def local_loss(w, x, y):
    return jax.lax.pmean(jnp.mean((x @ w - y) ** 2), "data")


sharded_loss = jax.shard_map(
    local_loss, mesh=mesh, in_specs=(P(), P("data"), P("data")), out_specs=P()
)


@partial(jax.jit, donate_argnums=0)
def step(w, x, y):
    return w - 0.1 * jax.grad(sharded_loss)(w, x, y)


def main():
    n = 4 * len(jax.devices())
    rows = NamedSharding(mesh, P("data"))
    x = jax.device_put(np.ones((n, 2), np.float32), rows)
    y = jax.device_put(np.ones(n, np.float32), rows)
    w = jax.device_put(jnp.zeros(2), NamedSharding(mesh, P()))
    for _ in range(3):
        w = step(w, x, y)
    return w


if __name__ == "__main__":
    print(main())
