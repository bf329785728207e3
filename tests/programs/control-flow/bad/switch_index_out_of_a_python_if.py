# source: jax-ml/jax#5210
# blind: eighth

import jax
import jax.numpy as jnp
from jax import lax


@jax.jit
def integrate(x, method):
    def euler(x):
        return x + 0.1 * jnp.sin(x)

    def midpoint(x):
        half = x + 0.05 * jnp.sin(x)
        return x + 0.1 * jnp.sin(half), half

    return lax.switch(method, [euler, midpoint], x)  # finding


if __name__ == "__main__":
    print(integrate(jnp.ones(3), 1))
