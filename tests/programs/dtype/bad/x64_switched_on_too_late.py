# source: google/jax#8178
# blind: first

import jax
import jax.numpy as jnp

GRID = jnp.linspace(0.0, 1.0, 101)
H = GRID[1] - GRID[0]


def second_derivative(u):
    return (u[2:] - 2 * u[1:-1] + u[:-2]) / H**2


def main():
    jax.config.update("jax_enable_x64", True)  # finding
    u = jnp.sin(jnp.pi * GRID)
    err = jnp.abs(second_derivative(u) + jnp.pi**2 * u[1:-1]).max()
    print(err)


if __name__ == "__main__":
    main()
