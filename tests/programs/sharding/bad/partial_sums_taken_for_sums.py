# source: jax-ml/jax#28464
# blind: second

import functools

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def centred(x):
    return x - x.mean(axis=-1, keepdims=True)


def covariance(mesh):
    @functools.partial(  # finding-also
        jax.shard_map, mesh=mesh, in_specs=P("rows", None), out_specs=P(None, None), check_vma=False
    )
    def gram(x):
        h = centred(x).astype(jnp.float32)
        return (h.T @ h).reshape(x.shape[-1], -1)  # finding

    return jax.jit(gram)


if __name__ == "__main__":
    mesh = jax.make_mesh((4,), ("rows",), axis_types=(jax.sharding.AxisType.Auto,))
    print(covariance(mesh)(jax.random.normal(jax.random.key(0), (16, 3))))
