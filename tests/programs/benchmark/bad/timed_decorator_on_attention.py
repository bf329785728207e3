# source: jax-ml/jax#1219
# blind: fourth

import functools
import time

import jax
import jax.numpy as jnp

TIMES = {}


def timed(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        begin = time.perf_counter()
        result = fn(*args, **kwargs)
        TIMES.setdefault(fn.__name__, []).append(time.perf_counter() - begin)  # finding
        return result

    return wrapper


@timed
@jax.jit
def attention(q, k, v):
    scores = q @ k.T / q.shape[-1] ** 0.5
    return jax.nn.softmax(scores, axis=-1) @ v


@timed
@jax.jit
def linear_attention(q, k, v):
    return jax.nn.elu(q) @ (jax.nn.elu(k).T @ v)


def report():
    for name, times in TIMES.items():
        print(f"{name}: best of {len(times)} {1e6 * min(times):.1f} us")


if __name__ == "__main__":
    q = jnp.ones((1024, 64))
    for _ in range(10):
        attention(q, q, q)  # finding-also
        linear_attention(q, q, q)  # finding-also
    report()
