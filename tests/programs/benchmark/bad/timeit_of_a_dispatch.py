# source: jax-ml/jax#5879
# blind: first

import timeit

import jax
import jax.numpy as jnp

x = jnp.ones((2000, 2000))
matmul = jax.jit(lambda a: a @ a)
matmul(x).block_until_ready()

if __name__ == "__main__":
    seconds = timeit.timeit(lambda: matmul(x), number=50)  # finding
    print(f"{seconds / 50 * 1e3:.3f} ms per product")
