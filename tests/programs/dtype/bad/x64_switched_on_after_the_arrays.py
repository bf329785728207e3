# source: jax-ml/jax#10814
# blind: eighth

import jax
import jax.numpy as jnp

GRID = jnp.linspace(0.0, 1.0, 1001)
STEP = GRID[1] - GRID[0]

jax.config.update("jax_enable_x64", True)  # finding


@jax.jit
def integrate(y):
    return jnp.sum(0.5 * (y[1:] + y[:-1])) * STEP


if __name__ == "__main__":
    print(integrate(jnp.exp(-(GRID**2))))
