# source: jax-ml/jax#16947
# blind: sixth

"""Tensor and data parallel feed-forward block."""
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P


def build_mesh():
    return Mesh(np.array(jax.devices()), ("data", "model"))  # finding


def shard_params(mesh, params):
    specs = {"up": P(None, "model"), "down": P("model", None)}
    return {k: jax.device_put(v, NamedSharding(mesh, specs[k])) for k, v in params.items()}


@jax.jit
def block(params, x):
    return jax.nn.gelu(x @ params["up"]) @ params["down"]


def main():
    mesh = build_mesh()
    k1, k2 = jax.random.split(jax.random.key(0))
    params = {
        "up": jax.random.normal(k1, (16, 64)) * 0.1,
        "down": jax.random.normal(k2, (64, 16)) * 0.1,
    }
    params = shard_params(mesh, params)
    x = jax.device_put(jnp.ones((8, 16)), NamedSharding(mesh, P("data", None)))
    print(block(params, x).sum())


if __name__ == "__main__":
    main()
