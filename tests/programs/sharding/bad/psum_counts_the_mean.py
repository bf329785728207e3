# source: jax-ml/jax#14273
# blind: first

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("data",))


def eval_shard(w, x, y):
    return jax.lax.psum(jnp.mean((x @ w - y) ** 2), "batch")  # finding


evaluate = jax.jit(jax.shard_map(eval_shard, mesh=mesh, in_specs=(P(), P("data"), P("data")), out_specs=P()))

if __name__ == "__main__":
    print(evaluate(jnp.zeros(3), jnp.ones((8, 3)), jnp.ones(8)))
