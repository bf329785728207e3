# source: gchq/coreax#470
# blind: first

import time

import jax
import jax.numpy as jnp


def jit_test(fn, *args):
    start = time.perf_counter()
    fn(*args)
    first = time.perf_counter() - start
    start = time.perf_counter()
    fn(*args)
    second = time.perf_counter() - start  # finding
    return first, second


@jax.jit
def gram(x):
    return jnp.exp(-jnp.sum((x[:, None] - x[None]) ** 2, -1))


if __name__ == "__main__":
    compile_and_run, run = jit_test(gram, jnp.ones((500, 3)))
    print(f"compilation {compile_and_run - run:.3f}s, run {run:.6f}s")
