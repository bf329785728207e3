# a timer of one's own, and helpers that are given the function

import time
import jax
import jax.numpy as jnp

class Timer:
    def __enter__(self):
        self.start = time.perf_counter()
        return self

    def __exit__(self, *exc):
        self.seconds = time.perf_counter() - self.start

def bench(fn, *args):
    fn(*args)
    t0 = time.perf_counter()
    for _ in range(10):
        out = fn(*args)
    return (time.perf_counter() - t0) / 10  # finding

def main():
    x = jnp.ones((512, 512))
    f = jax.jit(lambda x: x @ x)
    with Timer() as timer:  # finding
        f(x)
    print(bench(f, x), timer.seconds)

main()
