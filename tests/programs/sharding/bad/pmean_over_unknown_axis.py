# source: jax-ml/jax#3409
# blind: first

import jax
import jax.numpy as jnp


def center(x):
    return x - jax.lax.pmean(x, axis_name="batch")  # finding


def whiten(x):
    centered = center(x)
    power = jax.lax.pmean(centered**2, axis_name="i")
    return centered / jnp.sqrt(power + 1e-5)


batched = jax.vmap(whiten, axis_name="i")  # finding-also

if __name__ == "__main__":
    print(batched(jnp.ones((4, 3))))
