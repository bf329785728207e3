# source: jax-ml/jax#16122
# blind: first

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("x",))


def local_attention(q, k, v):
    scores = jax.nn.softmax(q @ k.T)
    return scores @ v


def attention(q, k, v):
    f = jax.shard_map(local_attention, mesh=mesh, in_specs=(P("x"), P()), out_specs=P("x"))  # finding
    return f(q, k, v)  # finding-also


if __name__ == "__main__":
    x = jnp.ones((8, 4))
    print(attention(x, x, x).shape)
