# source: google/flax#3204
# blind: first

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp


@dataclass
class ModelConfig:
    heads: int = 2
    dropout: float = 0.0
    causal: bool = True


@partial(jax.jit, static_argnames="cfg")
def attention(q, k, v, cfg):
    b, t, d = q.shape
    split = lambda z: z.reshape(b, t, cfg.heads, d // cfg.heads).swapaxes(1, 2)
    q, k, v = map(split, (q, k, v))
    scores = q @ k.swapaxes(-1, -2)
    if cfg.causal:
        scores = jnp.where(jnp.tril(jnp.ones((t, t), bool)), scores, -1e9)
    return jax.nn.softmax(scores) @ v


if __name__ == "__main__":
    x = jnp.ones((1, 4, 8))
    print(attention(x, x, x, cfg=ModelConfig()).shape)  # finding
