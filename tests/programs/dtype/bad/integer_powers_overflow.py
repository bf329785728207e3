# source: jax-ml/jax#8604
# blind: eighth

import jax
import jax.numpy as jnp


def pack_weights(levels):
    return 256 ** jnp.arange(levels)  # finding


@jax.jit
def encode(symbols):
    weights = pack_weights(symbols.shape[-1])
    return jnp.sum(symbols * weights, axis=-1)  # finding-also


if __name__ == "__main__":
    print(encode(jnp.ones((2, 6), jnp.int32)))
