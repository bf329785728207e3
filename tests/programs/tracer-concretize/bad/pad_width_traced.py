# source: jax-ml/jax#1629

import jax
import jax.numpy as jnp


def pad_to(x, length):
    missing = length - x.shape[0]
    return jnp.pad(x, ((0, missing), (0, 0)))  # finding


def collate(sequences, length):
    return jnp.stack([pad_to(s, length) for s in sequences])


@jax.jit
def encode(params, sequences, length):
    batch = collate(sequences, length)
    return jnp.tanh(batch @ params).mean(axis=1)


print(encode(jnp.eye(2), [jnp.ones((3, 2)), jnp.ones((5, 2))], 6).shape)
