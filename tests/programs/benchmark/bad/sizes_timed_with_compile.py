# source: jax-ml/jax#810

import time

import jax
import jax.numpy as jnp


@jax.jit
def spectral_norm(a):
    def body(_, v):
        v = a.T @ (a @ v)
        return v / jnp.linalg.norm(v)

    v = jax.lax.fori_loop(0, 20, body, jnp.ones(a.shape[1]))
    return jnp.linalg.norm(a @ v)


def scaling(sizes):
    timings = {}
    for n in sizes:
        a = jnp.ones((n, n)) / n
        start = time.perf_counter()
        spectral_norm(a).block_until_ready()  # finding
        timings[n] = time.perf_counter() - start  # finding-also
    return timings


if __name__ == "__main__":
    for n, seconds in scaling([16, 32, 64]).items():
        print(n, seconds)
