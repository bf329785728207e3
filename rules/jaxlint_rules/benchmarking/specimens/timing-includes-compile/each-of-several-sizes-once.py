# each of several sizes, once

import time
import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def total(a):
    return jnp.sum(a @ a)

@jax.jit
def norm(a):
    return jnp.linalg.norm(a @ a.T)

def scaling(sizes):
    for n in sizes:
        a = jnp.ones((n, n)) / n
        start = time.perf_counter()
        norm(a).block_until_ready()  # finding
        print(n, time.perf_counter() - start)

def converted(sizes):
    rng = np.random.default_rng(0)
    for n in sizes:
        a = jnp.asarray(2.0 * rng.normal(size=(n, n)))
        start = time.perf_counter()
        total(a).block_until_ready()  # finding
        print(n, time.perf_counter() - start)

scaling([16, 32, 64])
converted([16, 32, 64])
