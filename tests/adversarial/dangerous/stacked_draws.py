# function: scores
# arguments: rows=array
# refused: `calls['n']`

"""Rows of a stack that each count themselves."""

import jax
import jax.numpy as jnp

calls = {"n": 0}


def scored(row):
    calls["n"] += 1
    return jnp.tanh(row).sum() + calls["n"]


def scores(rows):
    return jnp.stack([scored(row) for row in rows])


def main():
    rows = jax.random.normal(jax.random.key(0), (100, 16))
    for _ in range(10):
        s = scores(rows)
    print("scores", s[:3], calls["n"])


if __name__ == "__main__":
    main()
