# source: jax-ml/jax#28372
# blind: first

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("data",))
replicated = NamedSharding(mesh, P())


@jax.jit
def grad_step(params, x, y):
    grads = jax.grad(lambda p: jnp.mean((x @ p - y) ** 2))(params)
    return params - 0.1 * grads


def train(params, loader):
    params = jax.device_put(params, replicated)
    for x, y in loader:
        x, y = jax.device_put((x, y), replicated)  # finding
        params = grad_step(params, x, y)
    return params


if __name__ == "__main__":
    print(train(jnp.zeros(3), [(np.ones((16, 3)), np.ones(16))] * 2))
