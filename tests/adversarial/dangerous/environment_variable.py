# function: move
# arguments: w=array
# refused: reads `os.environ`
# flags: --tight

"""The clipping bound stands in the environment, and a flag changes it on the way."""

import os
import sys

import jax
import jax.numpy as jnp

os.environ.setdefault("CLIP", "1.0")


def clipped(g):
    bound = float(os.environ["CLIP"])
    return jnp.clip(g, -bound, bound)


def move(w):
    gradient = jax.grad(lambda v: jnp.sum(jnp.cosh(v)))(w)
    return w - 0.1 * clipped(gradient)


def main():
    w = jnp.linspace(-3.0, 3.0, 7)
    for number in range(40):
        if "--tight" in sys.argv and number == 10:
            os.environ["CLIP"] = "0.1"
        w = move(w)
    print("w", w)


if __name__ == "__main__":
    main()
