# function: attention
# arguments: q=array, k=array, v=array
# refused: enters a context

"""Blocks are timed by a context manager that keeps what it measured."""

import time
from contextlib import contextmanager

import jax
import jax.numpy as jnp

timings = {}


@contextmanager
def timed(name):
    begin = time.perf_counter()
    yield
    timings.setdefault(name, []).append(time.perf_counter() - begin)


def attention(q, k, v):
    with timed("scores"):
        scores = jax.nn.softmax(q @ k.T / jnp.sqrt(q.shape[-1]))
    return scores @ v


def main():
    q, k, v = jax.random.normal(jax.random.key(0), (3, 32, 16))
    for _ in range(40):
        q = attention(q, k, v)
    print("blocks", len(timings["scores"]), "q", q.sum())


if __name__ == "__main__":
    main()
