# function: diffuse
# arguments: u=array
# refused: `self.done`

"""A progress bar that the step moves on."""

import sys

import jax
import jax.numpy as jnp


class Bar:
    def __init__(self, total):
        self.total, self.done = total, 0

    def update(self, count=1):
        self.done += count
        sys.stderr.write(f"\r{self.done}/{self.total}")


bar = Bar(80)


def diffuse(u):
    bar.update()
    return u + 0.1 * (jnp.roll(u, 1) - 2 * u + jnp.roll(u, -1))


def main():
    u = jnp.where(jnp.arange(64) == 32, 1.0, 0.0)
    for _ in range(80):
        u = diffuse(u)
    print("done", bar.done, "peak", u.max(), jax.default_backend())


if __name__ == "__main__":
    main()
