# source: AI-Hypercomputer/maxtext#4205
# blind: seventh

"""Partition rules for a small decoder, matched by parameter name."""

import re

import jax
import jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
from jax.experimental import mesh_utils

RULES = (
    (r"embed", P("model", "fsdp")),
    (r"attention/(q|k|v)", P("fsdp", "model")),
    (r"mlp/up", P("fsdp", "model")),
)


def make_mesh():
    devices = mesh_utils.create_device_mesh((1, jax.device_count(), 1))
    return Mesh(devices, ("dp", "fsdp", "tp"))


def spec_of(name):
    for pattern, spec in RULES:
        if re.search(pattern, name):
            return spec
    return P()


def place(params, mesh):
    return {k: jax.device_put(v, NamedSharding(mesh, spec_of(k))) for k, v in params.items()}  # finding-also


def activations(x, mesh):
    return jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P("dp", "model")))


def main():
    mesh = make_mesh()
    params = {"embed": jnp.ones((256, 64)), "mlp/up": jnp.ones((64, 256))}
    logits_sharding = NamedSharding(make_mesh(), P("dp", "model"))  # finding
    params = place(params, mesh)
    x = jax.jit(lambda p, t: p["embed"][t], out_shardings=logits_sharding)(params, jnp.arange(8))
    print(activations(x, mesh).shape)


if __name__ == "__main__":
    main()
