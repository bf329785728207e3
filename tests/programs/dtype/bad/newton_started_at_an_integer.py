# source: jax-ml/jax#15798
# blind: second

import jax
import jax.numpy as jnp


class Newton:
    def __init__(self, f):
        self.f = f
        self.slope = jax.grad(f)

    def step(self, x):
        return x - self.f(x) / self.slope(x)  # finding

    def solve(self, x, steps):
        for _ in range(steps):
            x = self.step(x)
        return x


def cubic(x):
    return x**3 - 2 * x - 5


if __name__ == "__main__":
    print(Newton(cubic).solve(2, 5), jnp.sqrt(2.0))  # finding-also
