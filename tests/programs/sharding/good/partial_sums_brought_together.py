# source: jax-ml/jax#28464
# blind: second

import functools

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


class Collective:
    def __init__(self, axis):
        self.axis = axis

    def total(self, x):
        return jax.lax.psum(x, self.axis)


def centred(x):
    return x - x.mean(axis=-1, keepdims=True)


def covariance(mesh, collective):
    @functools.partial(
        jax.shard_map, mesh=mesh, in_specs=P("rows", None), out_specs=P(None, None), check_vma=False
    )
    def gram(x):
        h = centred(x).astype(jnp.float32)
        return collective.total(h.T @ h)

    return jax.jit(gram)


if __name__ == "__main__":
    mesh = jax.make_mesh((jax.device_count(),), ("rows",), axis_types=(jax.sharding.AxisType.Auto,))
    print(covariance(mesh, Collective("rows"))(jax.random.normal(jax.random.key(0), (16, 3))))
