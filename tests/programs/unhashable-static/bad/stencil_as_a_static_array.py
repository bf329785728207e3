# blind: ninth

import functools

import jax
import jax.numpy as jnp
import numpy as np

OPERATORS = {
    "laplace": np.array([1.0, -2.0, 1.0]),
    "gradient": np.array([-0.5, 0.0, 0.5]),
}


@functools.partial(jax.jit, static_argnames=("stencil", "mode"))
def apply_stencil(field, stencil, mode="same"):
    return jnp.convolve(field, jnp.asarray(stencil), mode=mode)


class Equation:
    def __init__(self, name, **options):
        self.options = dict(options, stencil=OPERATORS[name])

    def rhs(self, field):
        return apply_stencil(field, **self.options)  # finding


if __name__ == "__main__":
    print(Equation("laplace", mode="valid").rhs(jnp.arange(8.0)))
