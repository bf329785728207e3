# source: jax-ml/jax#27808
# blind: eighteenth

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec as P

MESH = jax.make_mesh((8,), ("data",))
BATCH = 100  # finding-also


def loader(rng, n_batches):
    for _ in range(n_batches):
        x = rng.normal(size=(BATCH, 12)).astype(np.float32)
        yield {"x": x, "y": x[:, :1] * 2.0}


def put_batch(batch):
    sharding = NamedSharding(MESH, P("data"))
    return jax.device_put(batch, sharding)  # finding


@jax.jit
def mse(params, batch):
    pred = batch["x"] @ params["w"] + params["b"]
    return jnp.mean((pred - batch["y"]) ** 2)


def evaluate(params, batches):
    losses = [mse(params, put_batch(b)) for b in batches]
    return jnp.stack(losses).mean()


def main():
    replicated = NamedSharding(MESH, P())
    params = jax.device_put({"w": jnp.ones((12, 1)), "b": jnp.zeros(1)}, replicated)
    print(evaluate(params, loader(np.random.default_rng(0), 2)))


if __name__ == "__main__":
    main()
