# function: refine
# arguments: x=array, b=array
# refused: jax_enable_x64

"""A solver that polishes its result in double precision."""

import jax
import jax.numpy as jnp

MATRIX = jnp.array([[4.0, 1.0], [1.0, 3.0]])


def residual(x, b):
    return b - MATRIX @ x


def refine(x, b):
    r = residual(x, b)
    return x + 0.2 * r


def polish():
    jax.config.update("jax_enable_x64", True)


def main():
    b = [1.0, 2.0]
    x = jnp.zeros(2)
    for number in range(60):
        if number == 40:
            polish()
            x = x.astype(jnp.float64)
        x = refine(x, jnp.asarray(b))
    print("x", x, x.dtype)


if __name__ == "__main__":
    main()
