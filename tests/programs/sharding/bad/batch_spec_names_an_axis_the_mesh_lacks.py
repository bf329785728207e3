# source: jax-ml/jax#25541
# blind: sixth

"""Data-parallel logistic regression over all local devices."""
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec


class DataParallel:
    def __init__(self):
        devices = np.asarray(jax.devices())
        self.mesh = Mesh(devices, axis_names=("dp",))
        self.batch = NamedSharding(self.mesh, PartitionSpec("data"))  # finding
        self.replicated = NamedSharding(self.mesh, PartitionSpec())

    def shard(self, batch):
        return jax.tree.map(lambda x: jax.device_put(x, self.batch), batch)


@jax.jit
def update(w, batch):
    def nll(w):
        logits = batch["x"] @ w
        return jnp.mean(jax.nn.softplus(logits) - batch["y"] * logits)

    return w - 0.5 * jax.grad(nll)(w)


if __name__ == "__main__":
    parallel = DataParallel()
    w = jax.device_put(jnp.zeros(6), parallel.replicated)
    rng = np.random.default_rng(0)
    for _ in range(3):
        x = rng.normal(size=(32, 6)).astype(np.float32)
        batch = parallel.shard({"x": x, "y": (x[:, 0] > 0).astype(np.float32)})
        w = update(w, batch)
    print(w)
