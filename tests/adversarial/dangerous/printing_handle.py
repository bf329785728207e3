# function: power_step
# arguments: a=array, v=array
# refused: print(*values, file=OUT)

"""Prints to a stream of its own."""

import io

import jax
import jax.numpy as jnp

OUT = io.StringIO()


def show(*values):
    print(*values, file=OUT)


def power_step(a, v):
    v = a @ v
    norm = jnp.linalg.norm(v)
    show("norm", norm)
    return v / norm


def main():
    a = jax.random.normal(jax.random.key(0), (16, 16))
    a = a @ a.T
    v = jnp.ones(16)
    for _ in range(40):
        v = power_step(a, v)
    print("lines", OUT.getvalue().count("\n"), "value", v @ a @ v)


if __name__ == "__main__":
    main()
