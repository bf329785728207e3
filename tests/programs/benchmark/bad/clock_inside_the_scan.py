# source: jax-ml/jax#1832
# blind: first

import time

import jax
import jax.numpy as jnp


@jax.jit
def step(params, x):
    start = time.perf_counter()  # finding
    params = params - 0.01 * jax.grad(lambda p: jnp.sum((x @ p) ** 2))(params)
    return params, time.perf_counter() - start  # finding-also


if __name__ == "__main__":
    params, x = jnp.ones(50), jnp.ones((100, 50))
    for _ in range(3):
        params, seconds = step(params, x)
        print("step took", seconds)
