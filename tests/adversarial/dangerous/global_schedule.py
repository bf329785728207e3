# function: update
# arguments: w=array, x=array
# refused: reads `RATE`, which may be set at

"""The rate is a global that a schedule halves."""

import jax
import jax.numpy as jnp

RATE = 0.4


def decay(epoch):
    globals()["RATE"] = 0.4 * 0.5 ** (epoch // 10)


def update(w, x):
    gradient = jax.grad(lambda v: jnp.mean(jnp.log(jnp.cosh(x @ v - 1.0))))(w)
    return w - RATE * gradient


def main():
    x = jax.random.normal(jax.random.key(2), (50, 5))
    w = jnp.zeros(5)
    for epoch in range(40):
        decay(epoch)
        w = update(w, x)
    print("w", w)


if __name__ == "__main__":
    main()
