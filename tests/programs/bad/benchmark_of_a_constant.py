import time

import jax
import jax.numpy as jnp


@jax.jit
def run():
    a = jnp.ones((600, 600))
    return jnp.sum(a @ a.T)


if __name__ == "__main__":
    run().block_until_ready()
    start = time.perf_counter()
    for _ in range(20):
        run().block_until_ready()
    print("600 x 600 matmul:", (time.perf_counter() - start) / 20)
