# source: LargeWorldModel/LWM#39
# blind: seventh

from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P

mesh = jax.make_mesh((jax.device_count(),), ("sp",))


@partial(jax.shard_map, mesh=mesh, in_specs=(P(None, "sp"), P(None, "sp")), out_specs=P(None, "sp"))  # finding
def ring_attention(q, k, v):
    k = jax.lax.all_gather(k, "sp", axis=1, tiled=True)
    v = jax.lax.all_gather(v, "sp", axis=1, tiled=True)
    scores = jnp.einsum("bqd,bkd->bqk", q, k) / q.shape[-1] ** 0.5
    return jnp.einsum("bqk,bkd->bqd", jax.nn.softmax(scores), v)


def main():
    q = jnp.ones((2, 64, 16))
    print(ring_attention(q, q, q).shape)  # finding-also


if __name__ == "__main__":
    main()
