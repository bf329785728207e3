# source: google-deepmind/optax#548
# blind: twentieth
# missed: what out_shardings keep of an optimizer state

"""Fully sharded training of a wide two-layer network."""
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import optax
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P


@dataclass(frozen=True)
class Config:
    features: int = 256
    width: int = 4096
    lr: float = 1e-3
    steps: int = 5
    batch: int = 64


SPECS = {"up": P(None, "shard"), "bias": P("shard"), "down": P("shard", None)}


def init_params(cfg, key):
    k_up, k_down = jax.random.split(key)
    return {
        "up": jax.random.normal(k_up, (cfg.features, cfg.width)) * cfg.features**-0.5,
        "bias": jnp.zeros(cfg.width),
        "down": jax.random.normal(k_down, (cfg.width, cfg.features)) * cfg.width**-0.5,
    }


def loss_fn(params, x):
    h = jax.nn.gelu(x @ params["up"] + params["bias"])
    return jnp.mean((h @ params["down"] - x) ** 2)


def shard_params(params, mesh):
    shardings = {name: NamedSharding(mesh, spec) for name, spec in SPECS.items()}
    return jax.device_put(params, shardings)


def create(cfg, tx, mesh, key):
    """Parameters and optimiser state, ready for the mesh."""
    params = init_params(cfg, key)
    opt_state = jax.device_put(tx.init(params), NamedSharding(mesh, P()))  # finding
    return shard_params(params, mesh), opt_state  # finding-also


def make_step(tx, params, opt_state):
    """Keeps every array where `create` has put it."""
    layout = jax.tree.map(lambda leaf: leaf.sharding, (params, opt_state))  # finding-also

    @partial(jax.jit, donate_argnums=(0, 1), out_shardings=(*layout, None))  # finding-also
    def step(params, opt_state, x):
        loss, grads = jax.value_and_grad(loss_fn)(params, x)
        updates, opt_state = tx.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss

    return step


def bytes_on_first_device(tree):
    return sum(leaf.addressable_shards[0].data.nbytes for leaf in jax.tree.leaves(tree))


def main():
    cfg = Config()
    mesh = jax.make_mesh((jax.device_count(),), ("shard",), axis_types=(AxisType.Auto,))
    key, k_init = jax.random.split(jax.random.key(0))
    tx = optax.adamw(cfg.lr)
    params, opt_state = create(cfg, tx, mesh, k_init)
    step = make_step(tx, params, opt_state)
    for _ in range(cfg.steps):
        key, sub = jax.random.split(key)
        x = jax.device_put(
            jax.random.normal(sub, (cfg.batch, cfg.features)), NamedSharding(mesh, P())
        )
        params, opt_state, loss = step(params, opt_state, x)
    print("loss", float(loss), "bytes", bytes_on_first_device((params, opt_state)))


if __name__ == "__main__":
    main()
