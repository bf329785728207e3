# parts between offsets, sizes that are drawn

import itertools
import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def score(x):
    return jnp.tanh(x).sum()

def parts(x, starts):
    total = 0.0
    for lo, hi in zip(starts[:-1], starts[1:]):
        total += score(x[lo:hi])  # finding
    for i in range(len(starts) - 1):
        total += score(jnp.asarray(x[starts[i] : starts[i + 1]]))  # finding
    return total + sum(score(x[lo:hi]) for lo, hi in itertools.pairwise(starts))  # finding

def sample_size(rng):
    return int(rng.integers(20, 60))

def crops(x, rng, n):
    for _ in range(n):
        size = sample_size(rng)
        image = rng.normal(size=(2, size, size))
        score(image)  # finding
        length = np.random.randint(10, 100)
        score(x[:length])  # finding
