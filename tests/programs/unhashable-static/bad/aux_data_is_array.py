# source: jax-ml/jax#7295
# blind: first

import jax
import jax.numpy as jnp
import numpy as np


@jax.tree_util.register_pytree_node_class
class Basis:
    def __init__(self, coeffs, knots):
        self.coeffs = coeffs
        self.knots = knots

    def tree_flatten(self):
        return (self.coeffs,), np.asarray(self.knots)  # finding

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children, aux)


@jax.jit
def evaluate(basis, x):
    return jnp.interp(x, basis.knots, basis.coeffs)


def main():
    b = Basis(jnp.ones(4), np.linspace(0, 1, 4))
    for x in (0.1, 0.2):
        print(evaluate(b, x))
        b = Basis(b.coeffs * 2, 0.5 * b.knots)


if __name__ == "__main__":
    main()
