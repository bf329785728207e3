# flags: --points 0
"""Rows of a kernel, stacked: without points the stack raises ValueError, and an array of no numbers has another dtype."""

import argparse

import jax
import jax.numpy as jnp


def gram(points):
    rows = []
    for point in points:
        rows.append(jnp.exp(-jnp.sum((points - point) ** 2, axis=1)))
    return jnp.stack(rows)


def nearest(points):
    return jnp.array([jnp.argmin(jnp.sum((points - point - 0.1) ** 2, axis=1)) for point in points])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--points", type=int, default=150)
    count = parser.parse_args().points
    for seed in range(3):
        points = jax.random.normal(jax.random.key(seed), (count, 3))
        found = nearest(points)
        print(seed, found.dtype, found.sum())
        try:
            print(f"{gram(points).mean():.4f}")
        except ValueError as error:
            print("no rows:", error)


if __name__ == "__main__":
    main()
