# function: step
# arguments: w=array, x=array, y=array, check=bool
# refused: `if check:`
# flags: --check

"""With --check the step looks at its numbers."""

import argparse

import jax
import jax.numpy as jnp


def step(w, x, y, check):
    error = x @ w - y
    gradient = x.T @ error / x.shape[0]
    if check:
        norm = float(jnp.linalg.norm(gradient))
        if norm > 100.0:
            raise RuntimeError(f"the gradient is {norm}")
    return w - 0.1 * gradient


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    x = jax.random.normal(jax.random.key(0), (64, 4))
    y = x @ jnp.array([1.0, 2.0, 3.0, 4.0])
    w = jnp.zeros(4)
    for _ in range(80):
        w = step(w, x, y, args.check)
    print("w", w)


if __name__ == "__main__":
    main()
