# function: cool
# arguments: x=array, step=int
# refused: adds Python bools
# flags: --steps 900

"""A sampler that cools in stages: how many were passed is a sum of comparisons, and is more than one behind a flag."""

import argparse

import jax.numpy as jnp


def cool(x, step):
    stage = (step > 300) + (step > 600)
    heat = 0.5**stage
    slope = jnp.sin(3.0 * x) + 0.2 * x
    moved = x - 0.05 * heat * slope / (1.0 + jnp.abs(slope))
    return moved + 0.01 * heat * jnp.cos(7.0 * moved + 0.1 * step)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=500)
    args = parser.parse_args()
    x = jnp.linspace(-2.0, 2.0, 48)
    for step in range(args.steps):
        x = cool(x, step)
    print(f"{float(jnp.abs(x).sum()):.4f}")


if __name__ == "__main__":
    main()
