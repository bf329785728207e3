# source: google/flax#1264
# blind: sixth

"""Transformer step configured by a dataclass."""
import dataclasses

import jax
import jax.numpy as jnp


@dataclasses.dataclass
class Config:
    heads: int = 4
    causal: bool = True


def attention(q, k, v, config):
    b, t, d = q.shape
    q, k, v = (a.reshape(b, t, config.heads, -1) for a in (q, k, v))
    logits = jnp.einsum("bqhd,bkhd->bhqk", q, k)
    if config.causal:
        logits = jnp.where(jnp.tril(jnp.ones((t, t), bool)), logits, -1e9)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(logits), v).reshape(b, t, d)


attend = jax.jit(attention, static_argnums=3)


def main():
    x = jnp.ones((2, 5, 16))
    config = Config(heads=2)
    print(attend(x, x, x, config).shape)  # finding


if __name__ == "__main__":
    main()
