# source: jax-ml/jax#28464
# blind: second

from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def standardise(x, eps=1e-5):
    mean = x.mean(axis=0, keepdims=True)
    var = x.var(axis=0, keepdims=True)
    return (x - mean) / jnp.sqrt(var + eps)


def layer(params, x):
    return jax.nn.relu(standardise(x @ params["w"]) * params["scale"])


def build(mesh):
    @partial(jax.shard_map, mesh=mesh, in_specs=(P(), P("data")), out_specs=P(), check_vma=False)  # finding-also
    def loss(params, x):
        h = layer(params, x)
        return jnp.mean(h**2)  # finding

    return jax.jit(jax.value_and_grad(loss))


def main():
    mesh = jax.make_mesh((4,), ("data",), axis_types=(jax.sharding.AxisType.Auto,))
    params = {"w": jnp.eye(6), "scale": jnp.ones(6)}
    x = jax.random.normal(jax.random.key(0), (32, 6))
    value, grads = build(mesh)(params, x)
    print(value, grads["scale"])


if __name__ == "__main__":
    main()
