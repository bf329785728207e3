# source: jax-ml/jax#16430

import functools

import jax
import jax.numpy as jnp

MODES = ("reflect", "periodic")


class Box:
    def __init__(self, size, mode="periodic"):
        if mode not in MODES:
            raise ValueError(mode)
        self.size = size
        self.mode = mode

    def wrap(self, x):
        if self.mode == "periodic":
            return jnp.mod(x, self.size)
        folded = jnp.mod(x, 2 * self.size)
        return jnp.where(folded > self.size, 2 * self.size - folded, folded)

    @functools.partial(jax.jit, static_argnums=(0, 3))
    def advance(self, x, v, order):
        if order > 1:
            x = x + 0.005 * v
        return self.wrap(x + 0.1 * v)


def main():
    x, v = jnp.ones(3), jnp.arange(3.0)
    box = Box(2.0, MODES[0])
    for _ in range(3):
        x = box.advance(x, v, 2)
    print(x)


main()
