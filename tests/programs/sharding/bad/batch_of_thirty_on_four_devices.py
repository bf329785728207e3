# blind: thirteenth

import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

BATCH = 30


def make_mesh():
    return jax.make_mesh((4, 2), ("data", "model"), axis_types=(AxisType.Auto, AxisType.Auto))


def shard_batch(mesh, batch):
    return jax.device_put(batch, NamedSharding(mesh, P("data")))  # finding


def loss(params, x, y):
    return jnp.mean((x @ params - y) ** 2)


def main():
    mesh = make_mesh()
    params = jax.device_put(jnp.zeros((16,)), NamedSharding(mesh, P()))
    x = jax.random.normal(jax.random.key(0), (BATCH, 16))
    x, y = shard_batch(mesh, (x, x[:, 0]))
    step = jax.jit(lambda p, x, y: p - 0.1 * jax.grad(loss)(p, x, y))
    for _ in range(10):
        params = step(params, x, y)
    print(params)


if __name__ == "__main__":
    main()
