# source: jax-ml/jax#15483

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("data",))


def local_loss(w, x, y):
    return jnp.mean((x @ w - y) ** 2)


def sharded_loss(w, x, y):
    return jax.shard_map(  # finding
        local_loss,  # finding-also
        mesh=mesh,
        in_specs=(P(), P("data"), P("data")),
        out_specs=P(),  # finding-also
        check_vma=False,
    )(w, x, y)


@jax.jit
def step(w, x, y):
    return w - 0.1 * jax.grad(sharded_loss)(w, x, y)


if __name__ == "__main__":
    n = 4 * len(jax.devices())
    print(step(jnp.zeros(2), jnp.ones((n, 2)), jnp.arange(float(n))))
