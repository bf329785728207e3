# blind: fourteenth

import os

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec as P


class DataParallel:
    def __init__(self, n_devices=8):
        self.mesh = jax.make_mesh((n_devices,), ("batch",), axis_types=(jax.sharding.AxisType.Auto,))
        self.batch_sharding = NamedSharding(self.mesh, P("batch"))
        self.replicated = NamedSharding(self.mesh, P())

    def shard_batch(self, batch):
        return jax.device_put(batch, self.batch_sharding)  # finding

    def replicate(self, params):
        return jax.device_put(params, self.replicated)


def loss_fn(params, batch):
    pred = batch["x"] @ params["w"] + params["b"]
    return jnp.mean((pred - batch["y"]) ** 2)


@jax.jit  # finding-other
def sgd(params, batch, lr=0.1):
    loss, grads = jax.value_and_grad(loss_fn)(params, batch)
    return jax.tree.map(lambda p, g: p - lr * g, params, grads), loss


def loader(n_batches, batch_size, dim=4):
    rng = np.random.default_rng(0)
    for _ in range(n_batches):
        x = rng.normal(size=(batch_size, dim)).astype(np.float32)
        yield {"x": x, "y": x.sum(axis=1)}


def main():
    parallel = DataParallel()
    params = parallel.replicate({"w": jnp.zeros(4), "b": jnp.zeros(())})
    for batch in loader(4, batch_size=12):
        params, loss = sgd(params, parallel.shard_batch(batch))
    print(f"loss {loss:.3f}")


if __name__ == "__main__":
    main()
