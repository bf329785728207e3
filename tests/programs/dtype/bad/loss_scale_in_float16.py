# source: jax-ml/jax#3889
# blind: first
# missed: not found yet

import jax
import jax.numpy as jnp


@jax.jit
def variance(x):
    x = x.astype(jnp.float16)
    return jnp.mean(x**2) - jnp.mean(x) ** 2  # finding


if __name__ == "__main__":
    print(variance(300.0 + jax.random.normal(jax.random.key(0), (1000,))))
