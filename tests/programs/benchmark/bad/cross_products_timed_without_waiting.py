# source: jax-ml/jax#4474
# blind: eighth

import time

import jax
import jax.numpy as jnp


@jax.jit
def gram(a, b):
    return a @ b.T


def measure(n):
    a = jax.random.normal(jax.random.key(0), (n, n))
    b = jax.random.normal(jax.random.key(1), (n, n))
    gram(a, b).block_until_ready()
    start = time.perf_counter()
    gram(a, b)  # finding-also
    elapsed = time.perf_counter() - start  # finding
    print(f"{n}: {elapsed * 1e3:.3f} ms")


if __name__ == "__main__":
    for n in (64, 128):
        measure(n)
