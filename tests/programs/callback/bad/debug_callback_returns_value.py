# source: jax-ml/jax#15545

import jax
import jax.numpy as jnp
import numpy as np


def lookup(i):
    return np.float32(int(i) ** 2)


@jax.jit
def weight(x, i):
    value = jax.debug.callback(lookup, i)  # finding-also
    return x * value  # finding


if __name__ == "__main__":
    print(weight(jnp.ones(3), 2))
