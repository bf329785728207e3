# what a table of the object holds since it was made
from functools import partial

import jax
import jax.numpy as jnp

class Renderer:
    def __init__(self, colours):
        self.numbers = {}
        for colour in colours:
            self.number(colour)

    def number(self, colour):
        if colour in self.numbers:
            return self.numbers[colour]
        row = jnp.asarray(colour)
        grey = int(row[0] + row[1])
        self.numbers[colour] = grey
        return grey

    @partial(jax.jit, static_argnums=0)
    def render(self, x):
        return x + self.number((0, 1))

def main(colours, x):
    return Renderer(colours).render(x)
