# source: jax-ml/jax#1830
# blind: fourth

import dataclasses
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


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
    def __call__(self, x):
        cfg = self.config
        proj = nn.DenseGeneral((3, cfg.heads, cfg.head_dim), dtype=cfg.dtype, name="qkv")(x)
        q, k, v = (proj[..., i, :, :] for i in range(3))
        q = q / np.sqrt(cfg.head_dim)  # finding
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k)
        out = jnp.einsum("bhqk,bkhd->bqhd", nn.softmax(scores), v)
        return nn.Dense(cfg.width, dtype=cfg.dtype)(out.reshape(x.shape)), scores.dtype


def main():
    model = Attention(Config())
    x = jnp.ones((2, 16, 64), jnp.bfloat16)
    (y, score_dtype), _ = model.init_with_output(jax.random.key(0), x)
    print(y.dtype, score_dtype)


if __name__ == "__main__":
    main()
