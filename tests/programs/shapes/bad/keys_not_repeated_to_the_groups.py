# blind: fourteenth
from dataclasses import dataclass

import jax
import jax.numpy as jnp


@dataclass(frozen=True)
class AttentionConfig:
    dim: int = 64
    n_heads: int = 8
    n_kv_heads: int = 2

    @property
    def head_dim(self):
        return self.dim // self.n_heads


class GroupedAttention:
    def __init__(self, config):
        self.config = config

    def init(self, key):
        c = self.config
        shapes = {
            "wq": (c.dim, c.n_heads * c.head_dim),
            "wk": (c.dim, c.n_kv_heads * c.head_dim),
            "wv": (c.dim, c.n_kv_heads * c.head_dim),
            "wo": (c.n_heads * c.head_dim, c.dim),
        }
        keys = jax.random.split(key, len(shapes))
        return {n: jax.random.normal(k, s) / jnp.sqrt(c.dim) for k, (n, s) in zip(keys, shapes.items())}

    def split_heads(self, x, n):
        return x.reshape(*x.shape[:-1], n, self.config.head_dim)

    def __call__(self, params, x):
        c = self.config
        q = self.split_heads(x @ params["wq"], c.n_heads)
        k = self.split_heads(x @ params["wk"], c.n_kv_heads)
        v = self.split_heads(x @ params["wv"], c.n_kv_heads)
        v = jnp.repeat(v, c.n_heads // c.n_kv_heads, axis=2)
        scores = jnp.einsum("bthd,bshd->bhts", q, k) * c.head_dim**-0.5  # finding
        mask = jnp.tril(jnp.ones((x.shape[1], x.shape[1]), bool))
        weights = jax.nn.softmax(jnp.where(mask, scores, -jnp.inf), axis=-1)
        out = jnp.einsum("bhts,bshd->bthd", weights, v)
        return out.reshape(x.shape) @ params["wo"]


if __name__ == "__main__":
    layer = GroupedAttention(AttentionConfig())
    params = layer.init(jax.random.key(0))
    x = jax.random.normal(jax.random.key(1), (2, 5, 64))
    print(jax.jit(layer.__call__)(params, x).shape)
