# arguments of functions under functools.lru_cache
import functools

import jax.numpy as jnp
import numpy as np


@functools.lru_cache(maxsize=None)
def gram(x, scale):
    return x @ x.T / scale


@functools.cache
def window(size, name="hann"):
    return jnp.hanning(size)


class Model:
    def __init__(self, x):
        self.x = jnp.asarray(x)

    @functools.cached_property
    def norm(self):
        return jnp.linalg.norm(self.x)

    def fit(self):
        return gram(self.x, 2.0) / self.norm  # finding


def main():
    gram(jnp.ones((3, 3)), 1.0)  # finding
    gram(np.zeros((3, 3)), scale=1.0)  # finding
    window([3, 4])  # finding
    window(16)
    window(size=16, name="flat")
    gram.__wrapped__(jnp.ones((3, 3)), 1.0)
    Model(np.ones((3, 3))).fit()
    try:
        gram(jnp.ones((3, 3)), 1.0)
    except TypeError:
        pass


main()
