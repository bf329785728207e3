# source: jax-ml/jax#36886
# blind: nineteenth

import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((2,), ("data",))


def init_params(key):
    k1, k2 = jax.random.split(key)
    return {"w": 0.3 * jax.random.normal(k1, (6, 16)), "v": 0.3 * jax.random.normal(k2, (16, 1))}


def loss_fn(params, x, y):
    pred = jnp.tanh(x @ params["w"]) @ params["v"]
    return jnp.mean((pred - y) ** 2)


def shard_grads(params, x, y):
    loss, grads = jax.value_and_grad(loss_fn)(params, x, y)  # finding-also
    return jax.lax.pmean(loss, "data"), grads  # finding


parallel_grads = jax.jit(
    jax.shard_map(
        shard_grads,
        mesh=mesh,
        in_specs=(P(), P("data"), P("data")),
        out_specs=(P(), P()),  # finding-also
        check_vma=False,  # finding-also
    )
)


@jax.jit
def apply_sgd(params, grads):
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


def main():
    k_p, k_x = jax.random.split(jax.random.key(0))
    params = init_params(k_p)
    x = jax.random.normal(k_x, (64, 6))
    x = x[jnp.argsort(x[:, 0])]
    y = jnp.sin(2.0 * x[:, :1])
    split = NamedSharding(mesh, P("data"))
    x_sharded, y_sharded = jax.device_put(x, split), jax.device_put(y, split)
    loss, grads = parallel_grads(params, x_sharded, y_sharded)
    reference = jax.grad(loss_fn)(params, x, y)
    gap = jax.tree.map(lambda a, b: float(jnp.linalg.norm(a - b) / jnp.linalg.norm(b)), grads, reference)
    print("relative gap to the full-batch gradient", gap)
    for _ in range(5):
        loss, grads = parallel_grads(params, x_sharded, y_sharded)
        params = apply_sgd(params, grads)
    print("loss", float(loss_fn(params, x, y)))


if __name__ == "__main__":
    main()
