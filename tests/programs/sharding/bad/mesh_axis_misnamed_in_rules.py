# source: google/flax#889
# blind: second

import dataclasses

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P


@dataclasses.dataclass(frozen=True)
class MeshRules:
    embed: str | None = None
    mlp: str | None = "tensor"
    batch: str | None = "data"

    def spec(self, *names):
        return P(*(getattr(self, name) if name else None for name in names))


def create_mesh(data, model):
    return jax.make_mesh((data, model), ("data", "model"))


def shard_params(mesh, rules, params):
    specs = {"up": rules.spec("embed", "mlp"), "down": rules.spec("mlp", "embed")}
    return {
        name: jax.device_put(value, NamedSharding(mesh, specs[name]))  # finding
        for name, value in params.items()
    }


@jax.jit
def block(params, x):
    return x + jax.nn.gelu(x @ params["up"]) @ params["down"]


def main():
    mesh = create_mesh(2, 4)
    rules = MeshRules()
    params = {"up": jnp.ones((8, 32)), "down": jnp.ones((32, 8))}
    params = shard_params(mesh, rules, params)
    x = jax.device_put(jnp.ones((4, 8)), NamedSharding(mesh, rules.spec("batch", "embed")))
    print(block(params, x).sharding)


if __name__ == "__main__":
    main()
