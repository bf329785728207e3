# source: jax-ml/jax#3160

import jax
import jax.numpy as jnp
import numpy as np
from scipy import special


class Quadrature:
    def __init__(self, order):
        nodes, weights = np.polynomial.legendre.leggauss(order)
        self.nodes = jnp.asarray(nodes)
        self.weights = jnp.asarray(weights)
        self.norm = float(special.gamma(order))

    def __call__(self, f, a, b):
        half = 0.5 * (b - a)
        x = half * self.nodes + 0.5 * (a + b)
        return half * jnp.sum(self.weights * f(x))


def positions(x):
    length, width = np.shape(x)
    angles = np.arange(length)[:, None] / 10_000 ** (np.arange(width) / width)
    return x + jnp.asarray(np.sin(angles), x.dtype)


rule = Quadrature(8)
integral = jax.jit(lambda s: rule(lambda x: jnp.exp(-s * x), 0.0, 1.0))
print(integral(2.0), jax.jit(positions)(jnp.ones((4, 6))).shape)
