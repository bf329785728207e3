# blind: tenth

import dataclasses

import jax
import jax.numpy as jnp


@dataclasses.dataclass(frozen=True)
class Config:
    d_model: int = 500
    n_heads: int = 12
    batch: int = 2
    length: int = 16


def split_heads(x, cfg):
    b, t, d = x.shape
    return x.reshape(b, t, cfg.n_heads, d // cfg.n_heads)  # finding


def attention(x, wq, wk, wv, cfg):
    q, k, v = (split_heads(x @ w, cfg) for w in (wq, wk, wv))
    scores = jnp.einsum("bthd,bshd->bhts", q, k) / jnp.sqrt(q.shape[-1])
    return jnp.einsum("bhts,bshd->bthd", jax.nn.softmax(scores), v)


cfg = Config()
x = jnp.ones((cfg.batch, cfg.length, cfg.d_model))
w = jnp.ones((cfg.d_model, cfg.d_model)) / cfg.d_model
print(attention(x, w, w, w, cfg).shape)
