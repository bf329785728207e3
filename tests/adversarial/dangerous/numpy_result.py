# function: blend
# arguments: a=numpy, b=numpy, weight=float
# refused: may return a NumPy array
# flags: --mask

"""A function of NumPy arrays whose result a flag has changed in place."""

import argparse

import jax.numpy as jnp
import numpy as np


def blend(a, b, weight):
    return weight * a + (1 - weight) * b


def distance(a, b):
    return jnp.sqrt(jnp.sum((jnp.asarray(a) - jnp.asarray(b)) ** 2))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mask", action="store_true")
    args = parser.parse_args()
    a = np.linspace(0.0, 1.0, 64, dtype=np.float32)
    b = a[::-1].copy()
    for number in range(50):
        mixed = blend(a, b, number / 50)
        if args.mask:
            mixed[mixed < 0.25] = 0.0
        apart = distance(mixed, a)
    print("apart", apart, mixed.sum())


if __name__ == "__main__":
    main()
