# source: jax-ml/jax#1830
# blind: fourth

import dataclasses
import math
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp


@dataclasses.dataclass(frozen=True)
class Config:
    width: int = 64
    heads: int = 4
    dtype: Any = jnp.bfloat16

    @property
    def head_dim(self):
        return self.width // self.heads


class Attention(nn.Module):
    config: Config

    @nn.compact
    def __call__(self, x, key):
        cfg = self.config
        x = x + 0.01 * jax.random.normal(key, x.shape, x.dtype)
        proj = nn.DenseGeneral((3, cfg.heads, cfg.head_dim), dtype=cfg.dtype, name="qkv")(x)
        q, k, v = (proj[..., i, :, :] for i in range(3))
        q = q / math.sqrt(cfg.head_dim)
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k)
        probs = nn.softmax(scores.astype(jnp.float32)).astype(cfg.dtype)
        out = jnp.einsum("bhqk,bkhd->bqhd", probs, v)
        return nn.Dense(cfg.width, dtype=cfg.dtype)(out.reshape(x.shape))


def main():
    model = Attention(Config())
    x = jnp.ones((2, 16, 64), jnp.bfloat16)
    y, _ = model.init_with_output(jax.random.key(0), x, jax.random.key(1))
    print(y.dtype)


if __name__ == "__main__":
    main()
