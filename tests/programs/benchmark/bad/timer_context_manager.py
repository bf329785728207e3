# source: p-doom/jasmine#47

import time

import jax
import jax.numpy as jnp


class Timer:
    def __enter__(self):
        self.start = time.perf_counter()
        return self

    def __exit__(self, *exc):
        self.elapsed = time.perf_counter() - self.start


@jax.jit
def attention(q, k, v):
    weights = jax.nn.softmax(q @ k.T / jnp.sqrt(q.shape[-1]))
    return weights @ v


def compare(n=256, d=32, repeats=10):
    q = jnp.ones((n, d))
    out = attention(q, q, q).block_until_ready()
    with Timer() as timer:  # finding-also
        for _ in range(repeats):
            out = attention(q, q, q)  # finding
    print("attention", timer.elapsed / repeats)  # finding-also
    return out


if __name__ == "__main__":
    compare()
