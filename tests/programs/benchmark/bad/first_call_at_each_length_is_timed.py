# blind: thirteenth
# missed: the helper's sizes follow the loop variable

import statistics
import time

import jax
import jax.numpy as jnp


@jax.jit
def attention(q, k, v):
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / jnp.sqrt(q.shape[-1])
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)


def inputs(length, key):
    return [jax.random.normal(k, (2, length, 4, 64)) for k in jax.random.split(key, 3)]


def report():
    for length in (128, 256, 512):
        q, k, v = inputs(length, jax.random.key(length))
        start = time.perf_counter()
        attention(q, k, v).block_until_ready()  # finding
        elapsed = time.perf_counter() - start  # finding-also
        print(f"{length}: {1e3 * elapsed:.2f} ms")


if __name__ == "__main__":
    report()
