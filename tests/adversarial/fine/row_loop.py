# function: row_of
# arguments: a=array, points=array

"""A loop over rows that only computes, by a helper."""

import jax
import jax.numpy as jnp


def kernel(a, b):
    return jnp.exp(-jnp.sum((a - b) ** 2) / 2)


def row_of(a, points):
    return jnp.stack([kernel(a, b) for b in points])


def smooth(x, rates):
    for rate in rates:
        x = x - rate * jnp.sin(x)
    return x


def main():
    points = jax.random.normal(jax.random.key(0), (50, 3))
    rates = jnp.linspace(0.0, 0.1, 100)
    for number in range(10):
        row = row_of(points[number], points)
    print("row", row.sum(), "x", smooth(jnp.ones(4), rates))


if __name__ == "__main__":
    main()
