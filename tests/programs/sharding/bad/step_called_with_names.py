# source: jax-ml/jax#17400
# blind: seventh

"""Ridge regression whose rows are spread over all devices."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), axis_names=("rows",))
ROWS = NamedSharding(mesh, P("rows"))
EVERYWHERE = NamedSharding(mesh, P())


@functools.partial(
    jax.jit,
    in_shardings=(EVERYWHERE, ROWS, ROWS),
    out_shardings=(EVERYWHERE, EVERYWHERE),
    donate_argnums=0,
)
def step(state, features, targets):
    def loss(w):
        return jnp.mean((features @ w - targets) ** 2) + 1e-3 * jnp.sum(w**2)

    value, grad = jax.value_and_grad(loss)(state)
    return state - 0.1 * grad, value


def fit(features, targets, steps=20):
    state = jnp.zeros(features.shape[1])
    for _ in range(steps):
        state, value = step(state=state, features=features, targets=targets)  # finding
    return state, value


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    x = rng.normal(size=(64, 8)).astype(np.float32)
    print(fit(x, x @ np.ones(8, np.float32)))
