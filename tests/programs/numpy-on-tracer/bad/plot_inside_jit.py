# source: dpiras/cosmopower-jax#9

import jax
import jax.numpy as jnp
import numpy as np


class Histogram:
    def __init__(self, bins):
        self.edges = np.linspace(-3, 3, bins + 1)

    def fill(self, values):
        counts, _ = np.histogram(values, bins=self.edges)  # finding
        return counts


def make_monitor(histogram):
    @jax.jit
    def monitor(params, x):
        activations = jnp.tanh(x @ params)
        return activations.mean(), histogram.fill(activations)

    return monitor


monitor = make_monitor(Histogram(10))
print(monitor(jnp.eye(3), jax.random.normal(jax.random.key(0), (8, 3))))
