# source: jax-ml/jax#4967

import jax
import jax.numpy as jnp

GRID = jnp.linspace(0.0, 1.0, 257)
SPACING = GRID[1] - GRID[0]

jax.config.update("jax_enable_x64", True)  # finding


def second_derivative(u):
    return (u[2:] - 2 * u[1:-1] + u[:-2]) / SPACING**2


@jax.jit
def residual(u):
    return second_derivative(u) + jnp.pi**2 * u[1:-1]


def main():
    u = jnp.sin(jnp.pi * GRID)
    print(jnp.abs(residual(u)).max())


if __name__ == "__main__":
    main()
