# source: jax-ml/jax#8604
# blind: first

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def newton(x):
    for _ in range(5):
        x = x - (x**3 - 2.0) / (3 * x**2)
    return x


def solve(guess):
    x = jnp.array(guess, dtype=np.float64)  # finding
    root = newton(x)
    assert root.dtype == x.dtype
    return root


if __name__ == "__main__":
    print(solve([1.0, 2.0]).dtype)
