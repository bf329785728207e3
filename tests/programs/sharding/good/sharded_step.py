# blind: twenty-first

import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("data",))


def loss_fn(params, x, y):
    return jnp.mean((x @ params["w"] + params["b"] - y) ** 2)


@functools.partial(jax.shard_map, mesh=mesh, in_specs=(P(), P("data"), P("data")),
                   out_specs=(P(), P()), check_vma=False)
def parallel_grads(params, x, y):
    loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
    return jax.lax.pmean((loss, grads), axis_name="data")


@jax.jit  # finding-other
def train_step(params, x, y):
    loss, grads = parallel_grads(params, x, y)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), loss, grads


def make_batch(rng, n=64):
    x = rng.normal(size=(n, 5)).astype(np.float32)
    y = (x.sum(axis=1) + np.repeat(np.arange(4), n // 4)).astype(np.float32)
    sharding = NamedSharding(mesh, P("data"))
    return jax.device_put(x, sharding), jax.device_put(y, sharding)


def main():
    rng = np.random.default_rng(0)
    params = {"w": jnp.zeros((5,)), "b": jnp.zeros(())}
    for it in range(60):
        x, y = make_batch(rng)
        whole = jax.grad(loss_fn)(params, np.asarray(x), np.asarray(y)) if it == 0 else None
        params, loss, grads = train_step(params, x, y)
        if whole is not None:
            same = jax.tree.map(lambda a, b: bool(jnp.allclose(a, b, atol=1e-5)), whole, grads)
            assert all(jax.tree.leaves(same))
    print("loss", float(loss), "bias", float(params["b"]), "expected", 1.5)
    assert abs(float(params["b"]) - 1.5) < 0.3


if __name__ == "__main__":
    main()
