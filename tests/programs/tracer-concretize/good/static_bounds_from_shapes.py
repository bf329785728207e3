# source: jax-ml/jax#1579
# blind: first

import math
from functools import partial

import jax
import jax.numpy as jnp
from jax import lax


def chunks(x, size):
    n = math.ceil(x.shape[0] / size)
    padded = jnp.pad(x, ((0, n * size - len(x)), (0, 0)))
    return padded.reshape(n, size, -1)


@partial(jax.jit, static_argnames=("size", "k"))
def chunked_top(x, size, k):
    def body(carry, chunk):
        values, _ = lax.top_k(chunk.sum(-1), k)
        return carry + values.sum(), values[:k]

    total, values = lax.scan(body, 0.0, chunks(x, size))
    head = values[: min(k, values.shape[0])]
    return total / float(x.shape[0]), head


if __name__ == "__main__":
    print(chunked_top(jnp.ones((10, 3)), size=4, k=2))
