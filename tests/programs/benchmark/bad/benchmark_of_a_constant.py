# source: jax-ml/jax#12789
# blind: first
# missed: not found yet

import time

import jax
import jax.numpy as jnp


@jax.jit
def run():  # finding-also
    a = jnp.ones((600, 600))
    return jnp.sum(a @ a.T)  # finding-also


if __name__ == "__main__":
    run().block_until_ready()
    start = time.perf_counter()
    for _ in range(20):
        run().block_until_ready()  # finding
    print("600 x 600 matmul:", (time.perf_counter() - start) / 20)
