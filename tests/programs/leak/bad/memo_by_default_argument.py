# source: jax-ml/jax#5605
# blind: second

import math

import jax
import jax.numpy as jnp


def basis(x, degree, memo={}):
    """Chebyshev polynomials by their recurrence."""
    if degree in memo:
        return memo[degree]  # finding-also
    if degree == 0:
        value = jnp.ones_like(x)
    elif degree == 1:
        value = x
    else:
        value = 2 * x * basis(x, degree - 1) - basis(x, degree - 2)
    memo[degree] = value  # finding
    return value


def design(x, degree):
    return jnp.stack([basis(x, d) for d in range(degree + 1)], axis=-1)


@jax.jit
def fit(x, y):
    a = design(x, 3)
    return jnp.linalg.lstsq(a, y)[0]


def evaluate(coefficients, x):
    return design(x, len(coefficients) - 1) @ coefficients


def main():
    x = jnp.cos(jnp.linspace(0, math.pi, 20))
    coefficients = fit(x, jnp.exp(x))
    print(jnp.abs(evaluate(coefficients, x) - jnp.exp(x)).max())


if __name__ == "__main__":
    main()
