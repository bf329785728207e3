# function: potential
# arguments: springs=object, x=array
# static: springs
# refused: it reads `springs.stiff`, which is set at softened_object.py:MARKED
# flags: --soft

"""Springs, an object that a flag softens half-way: as a static argument it is looked up by its identity."""

import sys

import jax.numpy as jnp


class Springs:
    def __init__(self, n):
        self.stiff = 1.0 + jnp.arange(n) / n
        self.rest = jnp.ones(n)


def soften(springs):
    springs.stiff = springs.stiff * 0.7  # finding


def potential(springs, x):
    d = x - springs.rest
    return 0.5 * jnp.sum(springs.stiff * d * d)


def main():
    springs = Springs(32)
    x = jnp.linspace(0.0, 2.0, 32)
    for number in range(6):
        print(number, f"{float(potential(springs, x)):.4f}")
        if number == 2 and "--soft" in sys.argv:
            soften(springs)


if __name__ == "__main__":
    main()
