# source: netket/netket#2275
# blind: sixth

"""Pod training of a ridge model; process zero reports the validation loss."""
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P


@jax.jit
def step(w, x, y):
    return w - 0.1 * jax.grad(lambda w: jnp.mean((x @ w - y) ** 2))(w)


@jax.jit
def validation_loss(w, x, y):
    return jnp.mean((x @ w - y) ** 2)


def global_array(sharding, local):
    return jax.make_array_from_process_local_data(sharding, local)


def main(distributed=False):
    if distributed:
        jax.distributed.initialize()
    mesh = Mesh(np.array(jax.devices()), ("data",))
    data = NamedSharding(mesh, P("data"))
    rng = np.random.default_rng(jax.process_index())
    w = jax.device_put(jnp.zeros(4), NamedSharding(mesh, P()))
    held_x = global_array(data, rng.normal(size=(16, 4)).astype(np.float32))
    held_y = global_array(data, np.ones(16, np.float32))
    for i in range(20):
        x = global_array(data, rng.normal(size=(16, 4)).astype(np.float32))
        y = global_array(data, np.ones(16, np.float32))
        w = step(w, x, y)
        if i % 10 == 0 and jax.process_index() == 0:  # finding-also
            print(i, validation_loss(w, held_x, held_y))  # finding


if __name__ == "__main__":
    main()
