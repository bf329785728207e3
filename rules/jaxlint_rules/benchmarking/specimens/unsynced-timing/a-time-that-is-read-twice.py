# a time that is logged and then kept: one wait mends both

import time

import jax
import jax.numpy as jnp


@jax.jit
def step(x):
    return jnp.tanh(x @ x)


def main(x):
    times = []
    for _ in range(10):
        start = time.time()
        x = step(x)
        print(f"took {time.time() - start:.3f} s")  # finding
        times.append(time.time() - start)
    return times


main(jnp.eye(100))
