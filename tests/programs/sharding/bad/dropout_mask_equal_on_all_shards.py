# source: jax-ml/jax#14273
# blind: sixth
# missed: that the draw is to differ from device to device is not said; some are to be the same

"""Dropout inside of a mapped function, data parallel."""
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("batch",))


@jax.jit
@partial(jax.shard_map, mesh=mesh, in_specs=(P(), P(), P("batch")), out_specs=P("batch"))
def forward(params, key, x):
    h = jnp.tanh(x @ params["w1"])
    keep = jax.random.bernoulli(key, 0.9, h.shape)  # finding
    h = jnp.where(keep, h / 0.9, 0.0)
    return h @ params["w2"]


def main():
    params = {"w1": jnp.ones((4, 8)), "w2": jnp.ones((8, 2))}
    for step in range(3):
        key = jax.random.fold_in(jax.random.key(0), step)  # finding-also
        print(forward(params, key, jnp.ones((16, 4))).sum())


if __name__ == "__main__":
    main()
