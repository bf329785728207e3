# blind: ninth

import jax
import jax.numpy as jnp


def bits_to_int(bits):
    return jnp.sum(bits * 2 ** jnp.arange(bits.shape[-1]), axis=-1)


@jax.jit
def lookup(table, bits):
    return table[bits_to_int(bits)]


if __name__ == "__main__":
    print(lookup(jnp.arange(256), jnp.ones((4, 8), jnp.int32)))
