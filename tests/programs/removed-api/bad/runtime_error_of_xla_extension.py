# source: jax-ml/jax#30025
# blind: ninth

import jax
import jax.numpy as jnp
from jax.lib import xla_extension  # finding


@jax.jit
def attend(q, k):
    return jax.nn.softmax(q @ k.T)


def largest_batch(width, start=4096):
    size = start
    while size > 1:
        try:
            return size, attend(jnp.ones((size, width)), jnp.ones((size, width))).block_until_ready()
        except xla_extension.XlaRuntimeError:  # finding-also
            size //= 2
    raise MemoryError


if __name__ == "__main__":
    print(largest_batch(8, 64)[0])
