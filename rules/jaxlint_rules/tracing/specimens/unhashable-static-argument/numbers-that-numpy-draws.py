# numbers that NumPy draws, and arrays of them

from functools import partial

import jax
import numpy as np

rng = np.random.default_rng(0)


@partial(jax.jit, static_argnames="rate")
def step(x, rate):
    return x * rate


def once(x, low, n):
    step(x, rng.uniform())
    step(x, rng.normal(0.0, 1.0))
    step(x, np.random.rand())
    step(x, np.random.uniform(low, 1.0))
    step(x, rng.exponential(2.0, size=None))
    step(x, rng.normal(size=n))  # finding
    return step(x, np.random.rand(3))  # finding
