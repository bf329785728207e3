# source: Physical-Intelligence/openpi#607
# blind: nineteenth
# missed: the length of the last batch

import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec as P

BATCH = 48

mesh = jax.make_mesh((4,), ("batch",))
data_sharding = NamedSharding(mesh, P("batch"))
replicated = NamedSharding(mesh, P())


def episodes(seed, n):
    rng = np.random.default_rng(seed)
    proprio = rng.normal(size=(n, 10, 8)).astype(np.float32)
    actions = np.tanh(proprio.mean(axis=1) @ rng.normal(size=(8, 4))).astype(np.float32)
    return {"proprio": proprio, "actions": actions}


def batches(data, seed):
    n = data["actions"].shape[0]
    order = np.random.default_rng(seed).permutation(n)
    for lo in range(0, n, BATCH):  # finding-also
        idx = order[lo : lo + BATCH]  # finding-also
        host = {k: v[idx] for k, v in data.items()}
        yield jax.device_put(host, data_sharding)  # finding


def policy(params, proprio):
    h = jax.nn.relu(proprio.mean(axis=1) @ params["w1"])
    return jnp.tanh(h @ params["w2"])


@jax.jit
def bc_step(params, batch):
    def loss_fn(p):
        return jnp.mean((policy(p, batch["proprio"]) - batch["actions"]) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(params)
    return jax.tree.map(lambda p, g: p - 0.2 * g, params, grads), loss


def main():
    k1, k2 = jax.random.split(jax.random.key(0))
    params = {"w1": 0.3 * jax.random.normal(k1, (8, 32)), "w2": 0.2 * jax.random.normal(k2, (32, 4))}
    params = jax.device_put(params, replicated)
    data = episodes(0, 211)  # finding-also
    for epoch in range(3):
        for batch in batches(data, epoch):
            params, loss = bc_step(params, batch)
        print("epoch", epoch, "loss", float(loss))


if __name__ == "__main__":
    main()
