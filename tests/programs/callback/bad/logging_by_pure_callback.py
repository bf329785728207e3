# source: jax-ml/jax#15545
# blind: first

import jax
import jax.numpy as jnp
import numpy as np

LOSSES = []


def record(loss):
    LOSSES.append(float(loss))
    return np.float32(0.0)


@jax.jit
def step(params, x):
    loss, grads = jax.value_and_grad(lambda p: jnp.mean((x @ p) ** 2))(params)
    jax.pure_callback(record, jax.ShapeDtypeStruct((), jnp.float32), loss)  # finding
    return params - 0.1 * grads


if __name__ == "__main__":
    params = jnp.ones(4)
    for _ in range(3):
        params = step(params, jnp.ones((8, 4)))
    print(LOSSES)
