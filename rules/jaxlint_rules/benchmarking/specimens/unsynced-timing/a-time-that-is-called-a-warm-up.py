# a time that is called that of the warm-up

import time

import jax
import jax.numpy as jnp


@jax.jit
def step(x):
    return x @ x


def prepare(x):
    start = time.perf_counter()
    y = step(x)
    print(f"warmup time: {time.perf_counter() - start}")
    start = time.perf_counter()
    y = step(y)
    print(f"time: {time.perf_counter() - start}")  # finding
    return y


prepare(jnp.ones((512, 512)))
prepare(jnp.ones((512, 512)))
