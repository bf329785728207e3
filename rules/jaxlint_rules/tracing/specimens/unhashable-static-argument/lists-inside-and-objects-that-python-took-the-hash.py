# lists inside, and objects that Python took the hash from

import argparse
import dataclasses
from functools import partial
import jax

@dataclasses.dataclass(frozen=True)
class Sizes:
    widths: list

class Model:
    def __init__(self, width):
        self.width = width

    def __eq__(self, other):
        return self.width == other.width

    @partial(jax.jit, static_argnums=0)
    def apply(self, x):
        return x * self.width

@partial(jax.jit, static_argnums=1)
def forward(x, config):
    return x

def main(x):
    forward(x, Sizes([1, 2]))  # finding
    forward(x, (1, [2, 3]))  # finding
    forward(x, argparse.ArgumentParser().parse_args())  # finding
    forward(x, Sizes((1, 2)))
    forward(x, (1, (2, 3)))
    return Model(3).apply(x)  # finding
