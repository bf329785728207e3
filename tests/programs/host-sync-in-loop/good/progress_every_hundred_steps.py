# source: openvdb/fvdb-reality-capture#144
# blind: eighth

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, donate_argnums=0)
def step(w, x, y):
    loss, g = jax.value_and_grad(lambda w: jnp.mean((x @ w - y) ** 2))(w)
    return w - 0.1 * g, loss


def fit(w, x, y, iterations):
    for i in range(iterations):
        w, loss = step(w, x, y)
        if i % 100 == 0:
            print(f"{i}: {float(loss):.4f}")
    return w


if __name__ == "__main__":
    print(fit(jnp.zeros(3), jnp.ones((8, 3)), jnp.ones(8), 5))
