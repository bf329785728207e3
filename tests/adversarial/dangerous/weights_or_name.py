# function: density
# arguments: points=array, at=array, width=float, weights=array
# refused: `weights` may be a string
# flags: --uniform

"""Kernel density estimates; the weights are an array, or the name of a rule."""

import argparse

import jax
import jax.numpy as jnp


def density(points, at, width, weights):
    gap = (at[:, None] - points[None, :]) / width
    bumps = jnp.exp(-0.5 * gap**2) / jnp.sqrt(2 * jnp.pi)
    edge = jnp.tanh(bumps) * 0.01 + bumps
    if isinstance(weights, str):
        return jnp.mean(edge, axis=1) / width
    return edge @ weights / jnp.sum(weights) / width


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--uniform", action="store_true")
    args = parser.parse_args()
    points = jax.random.normal(jax.random.key(0), (200,))
    at = jnp.linspace(-3, 3, 50)
    weights = "uniform" if args.uniform else jnp.exp(-jnp.abs(points))
    total = 0.0
    for turn in range(400):
        found = density(points, at + 0.001 * turn, 0.3, weights)
        total += float(found.max())
    print(f"{total:.4f} {float(found.sum()):.4f}")


if __name__ == "__main__":
    main()
