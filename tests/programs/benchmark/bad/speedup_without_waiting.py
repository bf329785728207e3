# source: gbionics/jaxsim#344
# blind: first

from time import perf_counter

import jax
import jax.numpy as jnp


class Timer:
    def __enter__(self):
        self.start = perf_counter()
        return self

    def __exit__(self, *exc):
        self.seconds = perf_counter() - self.start  # finding-also


def main():
    solve = jax.jit(jnp.linalg.solve)
    a, b = jnp.eye(1000) * 2, jnp.ones(1000)
    solve(a, b).block_until_ready()
    with Timer() as t:  # finding-also
        for _ in range(10):
            x = solve(a, b)  # finding
    print("solve:", t.seconds / 10, x.shape)


main()
