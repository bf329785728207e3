# source: jax-ml/jax#1240
# blind: first

import contextlib
import time

import jax
import jax.numpy as jnp


@contextlib.contextmanager
def timer(label, results):
    start = time.perf_counter()
    yield
    results[label] = time.perf_counter() - start


matmul = jax.jit(lambda a, b: a @ b)


def compare(n):
    a = jnp.ones((n, n))
    results = {}
    matmul(a, a).block_until_ready()
    with timer("f32", results):  # finding-also
        out = matmul(a, a)  # finding
    half = a.astype(jnp.bfloat16)
    matmul(half, half).block_until_ready()
    with timer("bf16", results):
        out = matmul(half, half)
        out.block_until_ready()
    return results


if __name__ == "__main__":
    print(compare(512))
