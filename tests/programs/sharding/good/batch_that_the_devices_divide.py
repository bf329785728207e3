# blind: thirteenth

import functools

import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

BATCH = 64
mesh = jax.make_mesh((len(jax.devices()),), ("data",), axis_types=(AxisType.Auto,))


@functools.partial(jax.shard_map, mesh=mesh, in_specs=(P(), P("data"), P("data")), out_specs=(P(), P()))
def loss_and_grad(params, x, y):
    def loss(params):
        return jax.lax.pmean(jnp.mean((jnp.tanh(x @ params) - y) ** 2), "data")

    return jax.value_and_grad(loss)(params)


@functools.partial(jax.jit, donate_argnums=0)
def update(params, x, y):
    value, grads = loss_and_grad(params, x, y)
    return params - 0.1 * grads, value


def main():
    x = jax.random.normal(jax.random.key(0), (BATCH, 4))
    x, y = jax.device_put((x, x[:, 0]), NamedSharding(mesh, P("data")))
    params = jax.device_put(jnp.zeros(4), NamedSharding(mesh, P()))
    for _ in range(5):
        params, value = update(params, x, y)
    print(value)


if __name__ == "__main__":
    main()
