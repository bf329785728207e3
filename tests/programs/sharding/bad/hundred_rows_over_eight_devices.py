# blind: seventeenth
# missed: the length of a slice that follows a loop variable

"""Data-parallel inference over all devices."""
import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

NUM_DEVICES = 8
BATCH = 100


def make_params(key):
    k1, k2 = jax.random.split(key)
    return {
        "w1": jax.random.normal(k1, (32, 64)) / 6.0,
        "w2": jax.random.normal(k2, (64, 10)) / 8.0,
    }


@jax.jit
def predict(params, x):
    return jax.nn.softmax(jax.nn.relu(x @ params["w1"]) @ params["w2"], axis=-1)


def main():
    devices = np.array(jax.devices()[:NUM_DEVICES]).reshape(NUM_DEVICES)
    mesh = Mesh(devices, ("data",))
    rows = NamedSharding(mesh, P("data"))
    params = jax.device_put(make_params(jax.random.key(0)), NamedSharding(mesh, P()))
    data = np.random.default_rng(0).normal(size=(400, 32)).astype(np.float32)
    outputs = []
    for start in range(0, len(data), BATCH):
        x = jax.device_put(data[start : start + BATCH], rows)  # finding
        outputs.append(predict(params, x))
    print(np.concatenate(jax.device_get(outputs)).shape)


if __name__ == "__main__":
    main()
