# source: jax-ml/jax#30017
# blind: eighth

import jax
import jax.numpy as jnp


@jax.jit
def robust_mask(x, outliers):
    drop = jnp.in1d(x, outliers)  # finding
    return jnp.where(drop, jnp.median(x), x)


if __name__ == "__main__":
    print(robust_mask(jnp.arange(6), jnp.array([1, 3])))
