# source: astro-informatics/s2fft#359
# blind: first

import time

import jax
import jax.numpy as jnp


def compile_seconds(fn, *args):
    lowered = jax.jit(fn).lower(*args)
    start = time.perf_counter()
    lowered.compile()
    return time.perf_counter() - start


if __name__ == "__main__":
    print(compile_seconds(lambda a: jnp.sort(a), jnp.ones(100)))
