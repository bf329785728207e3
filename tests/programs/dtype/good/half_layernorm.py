# blind: twentieth

"""Half-precision encoder whose normalisation is computed in full precision."""
from dataclasses import dataclass
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp


@dataclass(frozen=True)
class Config:
    dim: int = 32
    layers: int = 2
    vocab: int = 40
    dtype: Any = jnp.float16
    norm_eps: float = 1e-8


class RMSNorm(nn.Module):
    eps: float
    dtype: Any

    @nn.compact
    def __call__(self, x):
        scale = self.param("scale", nn.initializers.ones, (x.shape[-1],))
        x = x.astype(jnp.float32)
        mean_square = jnp.mean(jnp.square(x), axis=-1, keepdims=True)
        out = x * jax.lax.rsqrt(mean_square + self.eps) * scale
        return out.astype(self.dtype)


class Block(nn.Module):
    cfg: Config

    @nn.compact
    def __call__(self, x, mask):
        h = RMSNorm(self.cfg.norm_eps, self.cfg.dtype)(x)
        h = nn.Dense(2 * self.cfg.dim, use_bias=False, dtype=self.cfg.dtype)(h)
        h = nn.Dense(self.cfg.dim, use_bias=False, dtype=self.cfg.dtype)(nn.gelu(h))
        return (x + h) * mask[..., None].astype(x.dtype)


class Encoder(nn.Module):
    cfg: Config

    @nn.compact
    def __call__(self, ids):
        mask = ids > 0
        x = nn.Embed(self.cfg.vocab, self.cfg.dim, dtype=self.cfg.dtype)(ids)
        x = x * mask[..., None].astype(x.dtype)
        for _ in range(self.cfg.layers):
            x = Block(self.cfg)(x, mask)
        x = x.astype(jnp.float32)
        return x.sum(axis=1) / jnp.maximum(mask.sum(axis=1, keepdims=True), 1)


def make_ids(key, batch=4, length=10):
    k_ids, k_len = jax.random.split(key)
    ids = jax.random.randint(k_ids, (batch, length), 1, 40)
    lengths = jax.random.randint(k_len, (batch, 1), 3, length)
    return jnp.where(jnp.arange(length) < lengths, ids, 0)


def main():
    cfg = Config()
    model = Encoder(cfg)
    k_init, k_ids = jax.random.split(jax.random.key(0))
    ids = make_ids(k_ids)
    params = model.init(k_init, ids)
    pooled = jax.jit(model.apply)(params, ids)
    print("pooled", pooled.shape, "norms", jnp.linalg.norm(pooled, axis=-1))


if __name__ == "__main__":
    main()
