# source: jax-ml/jax#3970
# blind: twentieth

"""Data-parallel training of a small network with shard_map."""
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


def loss_fn(params, x, y):
    return jnp.mean((predict(params, x) - y) ** 2)


def make_step(mesh, tx):
    @partial(
        jax.shard_map,
        mesh=mesh,
        in_specs=(P(), P("data"), P("data")),
        out_specs=(P(), P()),  # finding-also
        check_vma=False,  # finding-also
    )
    def loss_and_grads(params, x, y):
        loss, grads = jax.value_and_grad(loss_fn)(params, x, y)  # finding-also
        return jax.lax.pmean(loss, "data"), grads  # finding

    @partial(jax.jit, donate_argnums=(0, 1))
    def step(params, opt_state, x, y):
        loss, grads = loss_and_grads(params, x, y)
        updates, opt_state = tx.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state, loss

    return step


def site_batches(rng, sites, per_site, steps):
    """Every device holds the rows of one measuring site."""
    offsets = np.linspace(-2.0, 2.0, sites)[:, None, None]
    for _ in range(steps):
        x = offsets + 0.5 * rng.standard_normal((sites, per_site, 4))
        x = x.reshape(sites * per_site, 4).astype(np.float32)
        yield x, np.abs(x).sum(axis=1)


def main(steps=200):
    mesh = jax.make_mesh((jax.device_count(),), ("data",))
    replicated, split = NamedSharding(mesh, P()), NamedSharding(mesh, P("data"))
    tx = optax.adam(1e-2)
    params = jax.device_put(init_params(jax.random.key(0), 4, 32), replicated)
    opt_state = jax.device_put(tx.init(params), replicated)
    step = make_step(mesh, tx)
    rng = np.random.default_rng(0)
    for x, y in site_batches(rng, mesh.size, 32, steps):
        x, y = jax.device_put((x, y), split)
        params, opt_state, loss = step(params, opt_state, x, y)
    print("devices", mesh.size, "loss", float(loss))
    x, y = next(site_batches(rng, mesh.size, 32, 1))
    print("loss of the saved weights", float(loss_fn(jax.device_get(params), x, y)))


if __name__ == "__main__":
    main()
