# source: jax-ml/jax#14273
# blind: first

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("batch",))


@partial(jax.shard_map, mesh=mesh, in_specs=(P(), P("batch"), P("batch")), out_specs=P(), check_vma=False)  # finding-also
def global_loss(w, x, y):
    residual = x @ w - y
    return jnp.mean(residual**2)  # finding


def train(w, x, y, n):
    step = jax.jit(lambda w: w - 0.1 * jax.grad(global_loss)(w, x, y))
    for _ in range(n):
        w = step(w)
    return w


if __name__ == "__main__":
    print(train(jnp.ones(3), jnp.ones((8, 3)), jnp.ones(8), 2))
