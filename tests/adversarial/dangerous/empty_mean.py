# function: normalised
# arguments: x=array, total=float, count=int
# refused: `total / count` at empty_mean.py:MARKED divides by a Python number that may be 0
# flags: --first 0

"""The mean over what was counted; where nothing was, Python's error says so."""

import argparse

import jax
import jax.numpy as jnp


def normalised(x, total, count):
    mean = total / count  # finding
    centred = x - mean
    return centred / (jnp.std(centred) + 1e-6)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--first", type=int, default=1)
    args = parser.parse_args()
    x = jax.random.normal(jax.random.key(0), (64,))
    skipped = 0
    out = x
    for number in range(80):
        count = args.first + number // 10
        try:
            out = normalised(x, 2.5 * number, count)
        except ZeroDivisionError:
            skipped += 1
    print("skipped", skipped, "out", out[:4])


if __name__ == "__main__":
    main()
