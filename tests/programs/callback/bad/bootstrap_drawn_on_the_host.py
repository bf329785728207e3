# source: jax-ml/jax#24756
# blind: second

import random

import jax
import jax.numpy as jnp
import numpy as np


class Bootstrap:
    def __init__(self, size):
        self.size = size

    def rows(self, n):
        return np.array([random.randrange(int(n)) for _ in range(self.size)], np.int32)

    def __call__(self, x):
        spec = jax.ShapeDtypeStruct((self.size,), jnp.int32)
        index = jax.pure_callback(self.rows, spec, x.shape[0])  # finding
        return x[index]


def interval(x, resample, repeats):
    means = jnp.stack([resample(x).mean() for _ in range(repeats)])
    return jnp.quantile(means, jnp.array([0.05, 0.95]))


if __name__ == "__main__":
    x = jnp.arange(20.0)
    print(jax.jit(lambda x: interval(x, Bootstrap(20), 4))(x))
