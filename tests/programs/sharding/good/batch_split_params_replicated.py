# source: jax-ml/jax#28372
# blind: first

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("data",))


@jax.jit
def grads_of(params, x, y):
    return jax.grad(lambda p: jnp.mean((x @ p - y) ** 2))(params)


def train(params, loader):
    params = jax.device_put(params, NamedSharding(mesh, P()))
    for x, y in loader:
        x, y = jax.device_put((x, y), NamedSharding(mesh, P("data")))
        params = params - 0.1 * grads_of(params, x, y)
    return params


if __name__ == "__main__":
    print(train(jnp.zeros(3), [(np.ones((16, 3)), np.ones(16))] * 2))
