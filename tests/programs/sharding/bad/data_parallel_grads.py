# source: jax-ml/jax#3970
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
    pred = x @ params["w"] + params["b"]
    return jnp.mean((pred - y) ** 2)


@functools.partial(jax.shard_map, mesh=mesh, in_specs=(P(), P("data"), P("data")),  # finding-also
                   out_specs=(P(), P()), check_vma=False)  # finding-also
def parallel_grads(params, x, y):
    loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
    return grads, jax.lax.pmean(loss, "data")  # finding


@jax.jit
def train_step(params, x, y):
    grads, loss = parallel_grads(params, x, y)
    params = jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)
    return params, loss


def shard_batch(x, y):
    sharding = NamedSharding(mesh, P("data"))
    return jax.device_put(x, sharding), jax.device_put(y, sharding)


def domain_batch(rng, per_domain=16):
    xs, ys = [], []
    for domain in range(4):
        x = rng.normal(size=(per_domain, 5)).astype(np.float32)
        ys.append(x.sum(axis=1) + domain)
        xs.append(x)
    return np.concatenate(xs), np.concatenate(ys).astype(np.float32)


def main():
    rng = np.random.default_rng(0)
    params = {"w": jnp.zeros((5,)), "b": jnp.zeros(())}
    for it in range(60):
        x, y = shard_batch(*domain_batch(rng))
        params, loss = train_step(params, x, y)
    print("loss", float(loss))
    print("bias", float(params["b"]), "mean offset of the domains", 1.5)


if __name__ == "__main__":
    main()
