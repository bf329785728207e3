# source: google/maxtext#121
# blind: first

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np


@partial(jax.jit, static_argnames="length")
def encode(table, tokens, length):
    x = table[tokens]
    mask = jnp.arange(tokens.shape[0]) < length
    return jnp.where(mask[:, None], x, 0.0).sum(0) / length


def embed_all(table, sentences, width=64):
    vectors = []
    for sentence in sentences:
        padded = np.zeros(width, np.int32)
        padded[: len(sentence)] = sentence
        vectors.append(encode(table, padded, length=len(sentence)))  # finding
    return jnp.stack(vectors)


if __name__ == "__main__":
    print(embed_all(jnp.ones((10, 4)), [[1, 2], [3], [4, 5, 6]]).shape)
