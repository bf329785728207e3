# source: jax-ml/jax#2947

import jax
import jax.numpy as jnp


def residual(x, target):
    return x**3 + x - target


value_and_slope = jax.jit(jax.value_and_grad(residual))


def newton(x, target, tol=1e-5, max_iter=50):
    for iteration in range(max_iter):
        value, slope = value_and_slope(x, target)
        if abs(value) < tol:  # finding-other
            return x, iteration
        x = x - value / slope
    raise RuntimeError("no convergence")


def main():
    root, iterations = newton(jnp.array(1.0), 3.0)
    print(root, iterations)


if __name__ == "__main__":
    main()
