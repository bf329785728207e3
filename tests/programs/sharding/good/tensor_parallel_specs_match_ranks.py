# source: jax-ml/jax#18951
# blind: eighteenth

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P


def make_mesh():
    devices = jax.devices()
    model = 2 if len(devices) % 2 == 0 else 1
    return Mesh(np.array(devices).reshape(-1, model), ("data", "model"))


SPECS = {
    "up": {"kernel": P(None, "model"), "bias": P("model")},
    "down": {"kernel": P("model", None), "bias": P()},
}


def place(params, mesh):
    return jax.tree.map(lambda p, s: jax.device_put(p, NamedSharding(mesh, s)), params, SPECS)


def make_forward(mesh):
    @functools.partial(
        jax.shard_map, mesh=mesh, in_specs=(SPECS, P("data", None)), out_specs=P("data", None)
    )
    def forward(params, x):
        h = jax.nn.relu(x @ params["up"]["kernel"] + params["up"]["bias"])
        y = jax.lax.psum(h @ params["down"]["kernel"], "model")
        return y + params["down"]["bias"]

    return jax.jit(forward)


def main():
    mesh = make_mesh()
    k1, k2 = jax.random.split(jax.random.key(0))
    params = {
        "up": {"kernel": jax.random.normal(k1, (6, 16)), "bias": jnp.zeros(16)},
        "down": {"kernel": jax.random.normal(k2, (16, 6)), "bias": jnp.zeros(6)},
    }
    batch = 4 * mesh.shape["data"]
    x = jax.device_put(jnp.ones((batch, 6)), NamedSharding(mesh, P("data", None)))
    print(make_forward(mesh)(place(params, mesh), x).shape)


if __name__ == "__main__":
    main()
