# source: jax-ml/jax#4418

import jax
import jax.numpy as jnp


def padding_rows(tokens):
    rows, = jnp.where(~tokens.any(axis=-1))  # finding
    return rows


def masked_attention(q, k, v, tokens):
    scores = q @ k.T / jnp.sqrt(q.shape[-1])
    blocked = padding_rows(tokens)
    scores = scores.at[:, blocked].set(-1e9)
    return jax.nn.softmax(scores, axis=-1) @ v


batched = jax.jit(jax.vmap(masked_attention))


def main():
    q, k, v = jax.random.normal(jax.random.key(0), (3, 2, 6, 4))
    tokens = jnp.ones((2, 6, 3), jnp.int32).at[:, 4:].set(0)
    print(batched(q, k, v, tokens).shape)


main()
