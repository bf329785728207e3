# source: jax-ml/jax#15798
# blind: second

import jax
import jax.numpy as jnp


class Potential:
    def __init__(self, depth, width):
        self.depth = depth
        self.width = width

    def __call__(self, r):
        decay = jnp.exp(-(r - 1) / self.width)
        return self.depth * (1 - decay) ** 2


def derivatives(fn, order):
    chain = [fn]
    for _ in range(order):
        chain.append(jax.grad(chain[-1]))
    return chain


def taylor(fn, at, order=2):
    coefficients = []
    factorial = 1.0
    for n, f in enumerate(derivatives(fn, order)):
        factorial *= max(n, 1)
        coefficients.append(f(at) / factorial)  # finding-also
    return coefficients


def main():
    morse = Potential(4.7, 0.5)
    slope = jax.grad(morse)
    grid = jnp.arange(1, 5)
    print(jax.vmap(slope)(grid))  # finding
    print(taylor(morse, 2))


if __name__ == "__main__":
    main()
