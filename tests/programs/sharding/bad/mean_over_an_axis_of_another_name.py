# source: patrick-kidger/equinox#111
# blind: fourth

import functools
import os

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=4")

import jax
import jax.numpy as jnp
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P


def cross_replica_mean(tree, axis_name="batch"):
    return jax.tree.map(lambda x: jax.lax.pmean(x, axis_name), tree)  # finding-also


def normalise(x, eps, reduce=cross_replica_mean):
    stats = reduce({"mean": x.mean(0), "sq": (x**2).mean(0)})  # finding-also
    var = stats["sq"] - stats["mean"] ** 2
    return (x - stats["mean"]) / jnp.sqrt(var + eps)


def make_normalise(mesh, eps=1e-5):
    return jax.jit(
        jax.shard_map(  # finding
            functools.partial(normalise, eps=eps),
            mesh=mesh,
            in_specs=P("data"),
            out_specs=P("data"),
        )
    )


def main():
    mesh = Mesh(jax.devices()[:4], ("data",))
    x = jnp.arange(32.0).reshape(8, 4)
    print(make_normalise(mesh)(x).std(0))


if __name__ == "__main__":
    main()
