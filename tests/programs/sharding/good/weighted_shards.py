# blind: twentieth

"""Data-parallel training with padded rows, weighted over all devices."""
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import NamedSharding, PartitionSpec as P


def init_params(key, features, hidden):
    k1, k2 = jax.random.split(key)
    return {
        "w1": jax.random.normal(k1, (features, hidden)) * features**-0.5,
        "b1": jnp.zeros(hidden),
        "w2": jax.random.normal(k2, (hidden,)) * hidden**-0.5,
    }


def predict(params, x):
    return jax.nn.relu(x @ params["w1"] + params["b1"]) @ params["w2"]


def total_loss(params, x, y, weight):
    return jnp.sum(weight * (predict(params, x) - y) ** 2)


def make_step(mesh, tx):
    @partial(
        jax.shard_map,
        mesh=mesh,
        in_specs=(P(), P("data"), P("data"), P("data")),
        out_specs=(P(), P()),
        check_vma=False,
    )
    def loss_and_grads(params, x, y, weight):
        local = jax.value_and_grad(total_loss)(params, x, y, weight)
        loss, grads = jax.lax.psum(local, "data")
        count = jax.lax.psum(weight.sum(), "data")
        return loss / count, jax.tree.map(lambda g: g / count, grads)

    @partial(jax.jit, donate_argnums=(0, 1))
    def step(params, opt_state, x, y, weight):
        loss, grads = loss_and_grads(params, x, y, weight)
        updates, opt_state = tx.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state, loss

    return step


def padded_batches(rng, rows, steps):
    """The last rows of a batch are padding of weight zero."""
    for _ in range(steps):
        real = rng.integers(rows // 2, rows + 1)
        x = np.zeros((rows, 4), np.float32)
        x[:real] = rng.standard_normal((real, 4))
        weight = (np.arange(rows) < real).astype(np.float32)
        yield x, np.abs(x).sum(axis=1), weight


def main(steps=200):
    mesh = jax.make_mesh((jax.device_count(),), ("data",))
    replicated, split = NamedSharding(mesh, P()), NamedSharding(mesh, P("data"))
    tx = optax.adam(1e-2)
    params = jax.device_put(init_params(jax.random.key(0), 4, 32), replicated)
    opt_state = jax.device_put(tx.init(params), replicated)
    step = make_step(mesh, tx)
    rng = np.random.default_rng(0)
    for batch in padded_batches(rng, 32 * mesh.size, steps):
        batch = jax.device_put(batch, split)
        params, opt_state, loss = step(params, opt_state, *batch)
    print("devices", mesh.size, "loss", float(loss))


if __name__ == "__main__":
    main()
