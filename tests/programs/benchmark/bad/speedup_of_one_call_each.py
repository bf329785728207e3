# blind: ninth
# missed: nothing near the clock says that a speed is measured

import time
from contextlib import contextmanager

import jax
import jax.numpy as jnp


@contextmanager
def stopwatch(results, name):
    start = time.monotonic()
    yield
    results[name] = time.monotonic() - start


def rollout(x, length):
    return jax.lax.scan(lambda c, _: (jnp.sin(c) + 0.1, c.sum()), x, None, length=length)[1]


def compare(x, length=1000):
    results = {}
    compiled = jax.jit(rollout, static_argnums=1)
    with stopwatch(results, "plain"):
        rollout(x, length).block_until_ready()
    with stopwatch(results, "jit"):
        compiled(x, length).block_until_ready()  # finding
    return results["plain"] / results["jit"]


if __name__ == "__main__":
    print("speed-up", compare(jnp.ones(1000)))
