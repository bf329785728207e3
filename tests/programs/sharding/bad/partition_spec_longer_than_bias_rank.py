# source: jax-ml/jax#18951
# blind: eighteenth
# missed: the items of a dict in a loop

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P


def make_mesh():
    devices = np.array(jax.devices()[:8]).reshape(4, 2)
    return Mesh(devices, ("data", "model"))


def init_params(key, d_in=16, d_hidden=32):
    k1, k2 = jax.random.split(key)
    return {
        "up": {"kernel": jax.random.normal(k1, (d_in, d_hidden)), "bias": jnp.zeros(d_hidden)},
        "down": {"kernel": jax.random.normal(k2, (d_hidden, d_in)), "bias": jnp.zeros(d_in)},
    }


def shard_params(params, mesh):
    specs = {"up": P(None, "model"), "down": P("model", None)}  # finding-also
    out = {}
    for name, layer in params.items():
        sharding = NamedSharding(mesh, specs[name])
        out[name] = jax.tree.map(lambda p: jax.device_put(p, sharding), layer)  # finding
    return out


@jax.jit
def mlp(params, x):
    h = jax.nn.relu(x @ params["up"]["kernel"] + params["up"]["bias"])
    return h @ params["down"]["kernel"] + params["down"]["bias"]


def main():
    mesh = make_mesh()
    params = shard_params(init_params(jax.random.key(0)), mesh)
    x = jax.device_put(jnp.ones((8, 16)), NamedSharding(mesh, P("data", None)))
    print(mlp(params, x).sharding)


if __name__ == "__main__":
    main()
