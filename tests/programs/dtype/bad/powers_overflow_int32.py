# source: jax-ml/jax#8604
# blind: first

import jax
import jax.numpy as jnp


@jax.jit
def fixed_point_value(digits):
    weights = 1.0 / 256 ** jnp.arange(1, 9)  # finding
    return jnp.sum(digits * weights)


if __name__ == "__main__":
    print(fixed_point_value(jnp.ones(8)))
