# source: google/flax#3267
# blind: second

import dataclasses
import functools
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import struct


@dataclasses.dataclass(frozen=True)
class Config:
    vocab: int = 64
    width: int = 32
    heads: int = 4
    depth: int = 2
    dropout: float = 0.1
    tie: bool = True
    dtype: Any = jnp.float32


class Block(nn.Module):
    config: Config

    @nn.compact
    def __call__(self, x, mask, train):
        cfg = self.config
        h = nn.LayerNorm(dtype=cfg.dtype)(x)
        h = nn.MultiHeadDotProductAttention(cfg.heads, dropout_rate=cfg.dropout, deterministic=not train)(
            h, mask=mask
        )
        x = x + h
        h = nn.Dense(4 * cfg.width)(nn.LayerNorm()(x))
        h = nn.Dense(cfg.width)(nn.gelu(h))
        if train and cfg.dropout > 0:
            h = nn.Dropout(cfg.dropout, deterministic=False)(h)
        return x + h


class LanguageModel(nn.Module):
    config: Config

    @nn.compact
    def __call__(self, tokens, train=False):
        cfg = self.config
        if tokens.ndim != 2:
            raise ValueError(f"tokens must be (batch, time), got {tokens.shape}")
        embed = nn.Embed(cfg.vocab, cfg.width)
        x = embed(tokens)
        position = self.param("position", nn.initializers.normal(0.02), (128, cfg.width))
        x = x + position[: tokens.shape[1]]
        mask = nn.make_causal_mask(tokens)
        for _ in range(cfg.depth):
            x = Block(cfg)(x, mask, train)
        x = nn.LayerNorm()(x)
        return embed.attend(x) if cfg.tie else nn.Dense(cfg.vocab)(x)


@struct.dataclass
class State:
    params: Any
    opt_state: Any
    key: jax.Array


@functools.partial(jax.jit, static_argnums=(1, 2), donate_argnums=0)
def train_step(state, model, tx, tokens):
    key, dropout_key = jax.random.split(state.key)

    def loss_fn(params):
        logits = model.apply(params, tokens[:, :-1], train=True, rngs={"dropout": dropout_key})
        return optax.softmax_cross_entropy_with_integer_labels(logits, tokens[:, 1:]).mean()

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    updates, opt_state = tx.update(grads, state.opt_state, state.params)
    return State(optax.apply_updates(state.params, updates), opt_state, key), loss


def main():
    model = LanguageModel(Config())
    tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(optax.warmup_cosine_decay_schedule(0, 1e-3, 5, 20)))
    init_key, key = jax.random.split(jax.random.key(0))
    rng = np.random.default_rng(0)
    params = model.init(init_key, jnp.zeros((1, 8), jnp.int32))
    state = State(params, tx.init(params), key)
    losses = []
    for step in range(4):
        state, loss = train_step(state, model, tx, jnp.asarray(rng.integers(0, 64, (2, 9))))
        losses.append(loss)
        if step % 2 == 0:
            print(f"step {step}: {float(loss):.3f}")
    print(np.asarray(jnp.stack(losses)).shape)


if __name__ == "__main__":
    main()
