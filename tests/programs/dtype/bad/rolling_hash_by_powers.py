# source: jax-ml/jax#8604
# blind: ninth

from dataclasses import dataclass

import jax
import jax.numpy as jnp


@dataclass(frozen=True)
class HashConfig:
    base: int = 257
    window: int = 8
    buckets: int = 4096


def ngram_ids(cfg, tokens):
    powers = cfg.base ** jnp.arange(cfg.window)  # finding
    starts = jnp.arange(tokens.shape[0] - cfg.window + 1)
    windows = tokens[starts[:, None] + jnp.arange(cfg.window)]
    return (windows * powers).sum(-1) % cfg.buckets


@jax.jit
def embed(table, tokens):
    return table[ngram_ids(HashConfig(), tokens)]


if __name__ == "__main__":
    print(embed(jnp.ones((4096, 16)), jnp.arange(32)).shape)
