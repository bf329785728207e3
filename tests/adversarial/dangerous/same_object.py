# function: settle
# arguments: x=array, most=float
# refused: `old is x` at same_object.py:MARKED tests whether
# flags: --free

"""What needs no clipping comes back as the object that it was, and is counted by `is`."""

import argparse

import jax
import jax.numpy as jnp


def limited(x, most):
    if most is None:
        return x
    size = jnp.sqrt(jnp.sum(x**2))
    return x * jnp.minimum(1.0, most / (size + 1e-6))


def settle(x, most):
    moved = x + 0.1 * jnp.sin(x) - 0.01 * x**3
    return limited(moved, most), limited(x, most)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--free", action="store_true")
    args = parser.parse_args()
    x = jax.random.normal(jax.random.key(0), (16,))
    untouched = 0
    for _ in range(60):
        moved, old = settle(x, None if args.free else 2.0)
        untouched += old is x  # finding
        x = moved
    print("x", x[:4], "untouched", untouched)


if __name__ == "__main__":
    main()
