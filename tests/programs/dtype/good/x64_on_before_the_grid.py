# source: jax-ml/jax#10814
# blind: eighth

import jax

jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp  # noqa: E402

GRID = jnp.linspace(0.0, 1.0, 1001, dtype=jnp.float64)


@jax.jit
def integrate(y):
    return jnp.sum(0.5 * (y[1:] + y[:-1])) * (GRID[1] - GRID[0])


if __name__ == "__main__":
    print(integrate(jnp.exp(-(GRID**2))))
