"""A transformer language model in flax.linen with optax's adamw, in a TrainState."""

from __future__ import annotations

from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax.training.train_state import TrainState

LAYERS, WIDTH, HEADS, VOCABULARY, LENGTH, BATCH = 1, 256, 8, 4096, 128, 32

# The rules of t5x for Megatron tensor parallelism, as in `plain`: here heads and their width are axes of their own.
EXPERT = (
    (r"'embedding'\]$", (("model",), ())),
    (r"'(query|key|value)'\]\['kernel'\]$", ((), ("model",), ())),
    (r"'(query|key|value)'\]\['bias'\]$", (("model",), ())),
    (r"'out'\]\['kernel'\]$", (("model",), (), ())),
    (r"'up'\]\['kernel'\]$", ((), ("model",))),
    (r"'up'\]\['bias'\]$", (("model",),)),
    (r"'down'\]\['kernel'\]$", (("model",), ())),
    (r"'head'\]\['kernel'\]$", ((), ("model",))),
    (r"'head'\]\['bias'\]$", (("model",),)),
)
EXPERT_2D = (
    (r"'embedding'\]$", (("model",), ("data",))),
    (r"'(query|key|value)'\]\['kernel'\]$", (("data",), ("model",), ())),
    (r"'(query|key|value)'\]\['bias'\]$", (("model",), ())),
    (r"'out'\]\['kernel'\]$", (("model",), (), ("data",))),
    (r"'up'\]\['kernel'\]$", (("data",), ("model",))),
    (r"'up'\]\['bias'\]$", (("model",),)),
    (r"'down'\]\['kernel'\]$", (("model",), ("data",))),
    (r"'head'\]\['kernel'\]$", (("data",), ("model",))),
    (r"'head'\]\['bias'\]$", (("model",),)),
    (r"'(scale|bias)'\]$", (("data",),)),
)
PLACEMENTS = {"expert (t5x, Megatron)": EXPERT, "expert (t5x, Megatron with FSDP)": EXPERT_2D}
HEADER = (
    f"a transformer's train step (flax.linen, adamw, {LAYERS} layer{'s' if LAYERS > 1 else ''}, width {WIDTH}, vocabulary {VOCABULARY}, batch {BATCH} of {LENGTH} tokens); "
    "the expert's placements follow t5x (`t5x/partitioning.py`, `standard_logical_axis_rules`)"
)


class Block(nn.Module):
    """Attention and MLP, norms before."""

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        y = nn.LayerNorm()(x)
        mask = nn.make_causal_mask(jnp.ones(x.shape[:2]))
        x = x + nn.MultiHeadDotProductAttention(num_heads=HEADS, name="attention")(y, y, mask=mask)
        h = nn.gelu(nn.Dense(4 * WIDTH, name="up")(nn.LayerNorm()(x)))
        return x + nn.Dense(WIDTH, name="down")(h)


class Model(nn.Module):
    """The language model."""

    @nn.compact
    def __call__(self, tokens: jax.Array) -> jax.Array:
        x = nn.Embed(VOCABULARY, WIDTH, name="tokens")(tokens)
        for _ in range(LAYERS):
            x = Block()(x)
        return nn.Dense(VOCABULARY, name="head")(nn.LayerNorm()(x))


def train_step(state: TrainState, tokens: jax.Array) -> tuple[TrainState, jax.Array]:
    """One step of adamw."""

    def loss_fn(params: Any) -> jax.Array:
        scores = state.apply_fn({"params": params}, tokens[:, :-1])
        return optax.softmax_cross_entropy_with_integer_labels(scores, tokens[:, 1:]).mean()

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


def example() -> tuple[TrainState, jax.Array]:
    """Arguments of the step."""
    model = Model()
    tokens = jax.random.randint(jax.random.key(1), (BATCH, LENGTH + 1), 0, VOCABULARY)
    params = model.init(jax.random.key(0), tokens[:, :-1])["params"]
    return TrainState.create(apply_fn=model.apply, params=params, tx=optax.adamw(1e-3)), tokens
