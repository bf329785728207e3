# source: jax-ml/jax#9931
# blind: eighth

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def motion(previous, current):
    previous = previous.astype(jnp.uint8)
    current = current.astype(jnp.uint8)
    change = jnp.abs(current - previous)  # finding
    return change.max()


if __name__ == "__main__":
    print(motion(np.full((4, 4), 9), np.full((4, 4), 7)))
