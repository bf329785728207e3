# function: row_loss
# arguments: table=numpy, number=int, w=array
# refused: `table[number]` at out_of_rows.py:MARKED indexes a NumPy array
# flags: --rows 60

"""Rows of a NumPy table are taken by number; an IndexError ends the data."""

import argparse

import jax.numpy as jnp
import numpy as np


def row_loss(table, number, w):
    row = table[number]  # finding
    hidden = jnp.tanh(row * w)
    return jnp.mean((hidden - 0.5) ** 2)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=50)
    args = parser.parse_args()
    table = np.linspace(-1.0, 1.0, 50 * 8, dtype=np.float32).reshape(50, 8)
    w = jnp.arange(8.0)
    total, read = 0.0, 0
    for number in range(args.rows):
        try:
            total = total + row_loss(table, number, w)
        except IndexError:
            break
        read += 1
    print("read", read, "mean", total / read)


if __name__ == "__main__":
    main()
