# source: jax-ml/jax#3840
# blind: first

import jax
import jax.numpy as jnp


@jax.jit
def bucket(timestamps, width):
    seconds = timestamps.astype(jnp.int64)  # finding
    return seconds // width


if __name__ == "__main__":
    print(bucket(jnp.array([1.7e9, 1.7e9 + 60]), 60).dtype)
