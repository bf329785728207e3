# function: decayed
# arguments: w=array, gradient=array, step=int
# refused: `step ** 3` at big_steps.py:MARKED creates a Python int
# flags: --resume-at 2000

"""A schedule of the number of the step, which a run that is resumed takes up at a large one."""

import argparse

import jax
import jax.numpy as jnp


def decayed(w, gradient, step):
    growth = 1e-12 * step**3  # finding
    direction = gradient / (jnp.linalg.norm(gradient) + 1e-6)
    return w - 0.1 * direction * (0.5 + growth)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--resume-at", type=int, default=0)
    args = parser.parse_args()
    w = jnp.linspace(-1.0, 1.0, 8)
    for step in range(args.resume_at, args.resume_at + 100):
        w = decayed(w, jnp.sin(w), step)
    print("w", w)


if __name__ == "__main__":
    main()
