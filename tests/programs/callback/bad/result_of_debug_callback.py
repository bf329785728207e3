# source: jax-ml/jax#16732
# blind: first

import jax
import jax.numpy as jnp
import numpy as np

TABLE = np.linspace(0.0, 1.0, 11)


def nearest(value):
    return np.float32(TABLE[np.argmin(np.abs(TABLE - value))])


@jax.jit
def quantise(x, scale):
    snapped = jax.debug.callback(nearest, x)  # finding
    return snapped * scale  # finding-also


if __name__ == "__main__":
    print(quantise(jnp.array(0.37), 2.0))
