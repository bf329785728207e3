# source: jax-ml/jax#9675
# blind: first

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, donate_argnames=("params",))
def sgd(params, x, y):
    grads = jax.grad(lambda p: jnp.mean((x @ p["w"] + p["b"] - y) ** 2))(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


def train(params, loader):
    drift = []
    for x, y in loader:
        new_params = sgd(params, x, y)
        drift.append(jnp.linalg.norm(new_params["w"] - params["w"]))  # finding
        params = new_params
    return params, jnp.stack(drift)


if __name__ == "__main__":
    loader = [(jnp.ones((4, 3)), jnp.ones(4))] * 3
    print(train({"w": jnp.zeros(3), "b": jnp.zeros(())}, loader)[1])
