# source: jax-ml/jax#26946
# blind: fourth

import os

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec

VOCAB = 50257
DIM = 64

mesh = jax.make_mesh((2, 4), ("data", "model"))
SPECS = {"wte": PartitionSpec("model", None), "w": PartitionSpec(None, "model")}


def init_params(key):
    k1, k2 = jax.random.split(key)
    return {
        "wte": 0.02 * jax.random.normal(k1, (VOCAB, DIM)),
        "w": 0.02 * jax.random.normal(k2, (DIM, DIM)),
    }


def place(params):
    shardings = {name: NamedSharding(mesh, spec) for name, spec in SPECS.items()}
    return jax.device_put(params, shardings)  # finding


def logits(params, tokens):
    h = jnp.tanh(params["wte"][tokens] @ params["w"])
    return h @ params["wte"].T


if __name__ == "__main__":
    params = place(init_params(jax.random.key(0)))
    print(jax.jit(logits)(params, jnp.zeros((2, 4), jnp.int32)).shape)
