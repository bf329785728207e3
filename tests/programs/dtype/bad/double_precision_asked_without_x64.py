# source: google/jax#756
# blind: first

import jax
import jax.numpy as jnp


def gauss_legendre(f, a, b, nodes, weights):
    mid, half = (a + b) / 2, (b - a) / 2
    return half * jnp.sum(weights * f(mid + half * nodes))


class Quadrature:
    def __init__(self, nodes, weights):
        self.nodes = jnp.asarray(nodes, dtype="float64")  # finding
        self.weights = jnp.asarray(weights, dtype="float64")  # finding-also

    def __call__(self, f, a, b):
        return gauss_legendre(f, a, b, self.nodes, self.weights)


if __name__ == "__main__":
    q = Quadrature([-0.57735026919, 0.57735026919], [1.0, 1.0])
    print(q(jnp.cos, 0.0, 1.0))
