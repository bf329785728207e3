# source: jax-ml/jax#652

import time

import jax
import jax.numpy as jnp
import numpy as np

EPOCH = 1.7e9


class Timeline:
    def __init__(self, stamps):
        self.stamps = jnp.asarray(stamps, dtype=jnp.float64)  # finding

    def intervals(self):
        return jnp.diff(self.stamps)


@jax.jit
def rate(intervals):
    return 1.0 / (intervals.mean() + 1e-9)


def main():
    stamps = EPOCH + np.arange(100) * 0.25
    started = time.time()
    print(rate(Timeline(stamps).intervals()), time.time() - started)


main()
