# function: descend
# arguments: w=array, rate=float
# refused: catches exceptions

"""A step that overshoots is tried again with a smaller rate."""

import jax
import jax.numpy as jnp
import numpy as np


def loss(w):
    return jnp.sum(w**4) - jnp.sum(w**2)


def checked(w):
    if not np.isfinite(np.asarray(w)).all():
        raise FloatingPointError("the step overshot")
    return w


def descend(w, rate):
    gradient = jax.grad(loss)(w)
    try:
        return checked(w - rate * gradient)
    except FloatingPointError:
        return w - 0.01 * gradient


def main():
    w = jnp.linspace(-2.0, 2.0, 5)
    for _ in range(30):
        w = descend(w, 0.05)
    print("w", w, "loss", loss(w))


if __name__ == "__main__":
    main()
