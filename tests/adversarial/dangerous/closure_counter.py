# function: iterate
# arguments: x=array
# refused: nonlocal count

"""A function counts its calls in the variable of an outer function."""

import jax
import jax.numpy as jnp


def make_counter():
    count = 0

    def tick():
        nonlocal count
        count += 1
        return count

    return tick


tick = make_counter()


def decayed(x):
    return x / tick()


def iterate(x):
    y = decayed(jnp.sin(x) + 1.0)
    return y - y.mean()


def main():
    x = jax.random.normal(jax.random.key(0), (128,))
    for _ in range(50):
        x = iterate(x)
    print("x", x[:4])


if __name__ == "__main__":
    main()
