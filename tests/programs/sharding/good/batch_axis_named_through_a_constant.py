# source: jax-ml/jax#25541
# blind: sixth

"""Data-parallel regression; the axis name lives in one place."""
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

DATA = "data"


def make_mesh():
    return Mesh(np.array(jax.devices()).reshape(-1, 1), (DATA, "model"))


@jax.jit  # finding-other
def update(w, x, y):
    return w - 0.1 * jax.grad(lambda w: jnp.mean((x @ w - y) ** 2))(w)


def main():
    mesh = make_mesh()
    batch_sharding = NamedSharding(mesh, P(DATA))
    w = jax.device_put(jnp.zeros(4), NamedSharding(mesh, P()))
    rng = np.random.default_rng(0)
    for i in range(3):
        x = jax.device_put(rng.normal(size=(16, 4)).astype(np.float32), batch_sharding)
        y = jax.device_put(np.ones(16, np.float32), batch_sharding)
        w = update(w, x, y)
        if jax.process_index() == 0:
            print(i, w)


if __name__ == "__main__":
    main()
