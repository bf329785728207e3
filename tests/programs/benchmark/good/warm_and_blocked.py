# source: gchq/coreax#470

import time
import timeit

import jax
import jax.numpy as jnp


@jax.jit
def spectral(a):
    return jnp.linalg.norm(a @ a.T)


class Timer:
    def __enter__(self):
        self.start = time.perf_counter()
        return self

    def __exit__(self, *exc):
        self.seconds = time.perf_counter() - self.start


def scaling(sizes, repeats=5):
    rows = []
    for n in sizes:
        a = jnp.ones((n, n))
        spectral(a).block_until_ready()
        with Timer() as timer:
            for _ in range(repeats):
                out = spectral(a)
            out.block_until_ready()
        each = timeit.timeit(lambda: jax.block_until_ready(spectral(a)), number=repeats)
        rows.append((n, timer.seconds / repeats, each / repeats))
    return rows


if __name__ == "__main__":
    print(scaling([8, 16]))
