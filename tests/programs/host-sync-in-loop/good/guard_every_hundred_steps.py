# blind: ninth

import jax
import jax.numpy as jnp
import numpy as np


def is_bad(loss):
    return not np.isfinite(loss)


@jax.jit  # finding-other
def step(params, x, y):
    loss, grads = jax.value_and_grad(lambda p: jnp.mean((x @ p - y) ** 2))(params)
    return params - 1e-3 * grads, loss


def train(params, batches):
    for i, (x, y) in enumerate(batches):
        params, loss = step(params, x, y)
        if i % 100 == 0 and is_bad(loss):
            raise FloatingPointError("the loss is not finite")
    return params


if __name__ == "__main__":
    print(train(jnp.ones(8), [(jnp.ones((32, 8)), jnp.zeros(32))] * 300))
