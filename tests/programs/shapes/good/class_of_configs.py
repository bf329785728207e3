from dataclasses import dataclass

import jax
import jax.numpy as jnp


@dataclass
class Config:
    width: int = 64
    heads: int = 4
    layers: int = 2


def block(p, x, cfg):
    b, t, d = x.shape
    q = (x @ p["q"]).reshape(b, t, cfg.heads, d // cfg.heads)
    k = (x @ p["k"]).reshape(b, t, cfg.heads, d // cfg.heads)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k)
    weights = jax.nn.softmax(scores, axis=-1)
    out = jnp.einsum("bhqk,bkhd->bqhd", weights, k).reshape(b, t, d)
    return x + out @ p["o"]


def model(params, x, cfg):
    for p in params:
        x = block(p, x, cfg)
    return x


cfg = Config()
params = [{name: jnp.ones((cfg.width, cfg.width)) for name in "qko"} for _ in range(cfg.layers)]
wide = Config(width=96, heads=8)
more = [{name: jnp.ones((wide.width, wide.width)) for name in "qko"} for _ in range(wide.layers)]
print(model(params, jnp.ones((2, 10, 64)), cfg).shape, model(more, jnp.ones((2, 10, 96)), wide).shape)
