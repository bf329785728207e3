"""A switch transformer's feed-forward layers in plain JAX: top-1 routing with a capacity, experts stacked, Adam."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import optax

LAYERS, WIDTH, HIDDEN, EXPERTS, VOCABULARY, LENGTH, BATCH = 1, 64, 512, 8, 256, 64, 16
HEADER = (
    f"a switch transformer's train step ({LAYERS} layer, width {WIDTH}, {EXPERTS} experts of {HIDDEN}, batch {BATCH} of {LENGTH} tokens); "
    "the expert's placements follow t5x (`t5x/contrib/moe/partitioning.py`)"
)

# t5x for mixtures of experts (google-research/t5x, t5x/contrib/moe/partitioning.py): the axis of the experts is part of that of the data, over
# which the batch is split as well; inside an expert as Megatron. Its constraints on activations are those of the model, and not here.
EXPERT = (
    (r"'embedding'\]$", (("model",), ())),
    (r"'up'\]$", (("data",), (), ("model",))),
    (r"'down'\]$", (("data",), ("model",), ())),
    (r"'head'\]$", ((), ("model",))),
)
PLACEMENTS = {"expert (t5x, mixture of experts)": EXPERT}
OPTIMIZER = optax.adam(1e-3)


def init(key: jax.Array) -> dict[str, Any]:
    """The parameters."""

    def dense(*shape: int) -> jax.Array:
        return jax.random.normal(next(keys), shape) * shape[-2] ** -0.5

    keys = iter(jax.random.split(key, 64))
    layers = [
        {
            "scale": jnp.ones(WIDTH),
            "router": dense(WIDTH, EXPERTS),
            "up": dense(EXPERTS, WIDTH, HIDDEN),
            "down": dense(EXPERTS, HIDDEN, WIDTH),
        }
        for _ in range(LAYERS)
    ]
    return {"embedding": dense(VOCABULARY, WIDTH), "layers": layers, "head": dense(WIDTH, VOCABULARY)}


def mixture(p: dict[str, jax.Array], x: jax.Array) -> jax.Array:
    """Each token through the expert that its router likes best, if there is room."""
    capacity = 2 * LENGTH // EXPERTS
    gates = jax.nn.softmax(x @ p["router"])
    mask = jax.nn.one_hot(gates.argmax(-1), EXPERTS)
    position = jnp.cumsum(mask, axis=1) * mask
    mask = mask * (position <= capacity)
    slot = jax.nn.one_hot((position.sum(-1) - 1).astype(jnp.int32), capacity)
    dispatch = mask[..., None] * slot[:, :, None, :]
    inputs = jnp.einsum("btec,btd->ebcd", dispatch, x)
    h = jax.nn.gelu(jnp.einsum("ebcd,edf->ebcf", inputs, p["up"]))
    out = jnp.einsum("ebcf,efd->ebcd", h, p["down"])
    return jnp.einsum("btec,ebcd->btd", dispatch * gates.max(-1)[..., None, None], out)


def loss_fn(params: dict[str, Any], tokens: jax.Array) -> jax.Array:
    """Mean cross-entropy of the next token."""
    x = params["embedding"][tokens[:, :-1]]
    for p in params["layers"]:
        scaled = p["scale"] * x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6)
        x = x + mixture(p, scaled)
    scores = x @ params["head"]
    return optax.softmax_cross_entropy_with_integer_labels(scores, tokens[:, 1:]).mean()


def train_step(state: Any, tokens: jax.Array) -> tuple[Any, jax.Array]:
    """One step of Adam."""
    params, moments = state
    loss, grads = jax.value_and_grad(loss_fn)(params, tokens)
    updates, moments = OPTIMIZER.update(grads, moments, params)
    return (optax.apply_updates(params, updates), moments), loss


def example() -> tuple[Any, jax.Array]:
    """Arguments of the step."""
    params = init(jax.random.key(0))
    tokens = jax.random.randint(jax.random.key(1), (BATCH, LENGTH + 1), 0, VOCABULARY)
    return (params, OPTIMIZER.init(params)), tokens
