"""A transformer language model in plain JAX: dicts of arrays, Adam by hand."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

LAYERS, WIDTH, HEADS, VOCABULARY, LENGTH, BATCH = 2, 256, 8, 4096, 128, 32

# The rules of t5x for Megatron tensor parallelism (google-research/t5x, t5x/partitioning.py, `standard_logical_axis_rules` with one
# dimension for activations and one for parameters): batch over data; vocab, mlp, heads and joined_kv over model; embed whole.
EXPERT = (
    (r"'embedding'\]$", (("model",), ())),
    (r"'(query|key|value|up)'\]$", ((), ("model",))),
    (r"'up_bias'\]$", (("model",),)),
    (r"'(out|down)'\]$", (("model",), ())),
    (r"'head'\]$", ((), ("model",))),
)
# The same with two dimensions for parameters: embed over data as well.
EXPERT_2D = (
    (r"'embedding'\]$", (("model",), ("data",))),
    (r"'positions'\]$", ((), ("data",))),
    (r"'scale'\]$", (("data",),)),
    (r"'(query|key|value|up)'\]$", (("data",), ("model",))),
    (r"'up_bias'\]$", (("model",),)),
    (r"'down_bias'\]$", (("data",),)),
    (r"'(out|down)'\]$", (("model",), ("data",))),
    (r"'head'\]$", (("data",), ("model",))),
)
PLACEMENTS = {"expert (t5x, Megatron)": EXPERT, "expert (t5x, Megatron with FSDP)": EXPERT_2D}
HEADER = (
    f"a transformer's train step (plain JAX, Adam by hand, {LAYERS} layer{'s' if LAYERS > 1 else ''}, width {WIDTH}, vocabulary {VOCABULARY}, batch {BATCH} of {LENGTH} tokens); "
    "the expert's placements follow t5x (`t5x/partitioning.py`, `standard_logical_axis_rules`)"
)


def init(key: jax.Array) -> dict[str, Any]:
    """The parameters."""

    def dense(*shape: int) -> jax.Array:
        return jax.random.normal(next(keys), shape) * shape[0] ** -0.5

    keys = iter(jax.random.split(key, 64))
    layers = [
        {
            "norm1": {"scale": jnp.ones(WIDTH)},
            "norm2": {"scale": jnp.ones(WIDTH)},
            "attention": {name: dense(WIDTH, WIDTH) for name in ("query", "key", "value", "out")},
            "mlp": {
                "up": dense(WIDTH, 4 * WIDTH),
                "up_bias": jnp.zeros(4 * WIDTH),
                "down": dense(4 * WIDTH, WIDTH),
                "down_bias": jnp.zeros(WIDTH),
            },
        }
        for _ in range(LAYERS)
    ]
    return {
        "embedding": dense(VOCABULARY, WIDTH),
        "positions": 0.02 * dense(LENGTH, WIDTH),
        "layers": layers,
        "norm": {"scale": jnp.ones(WIDTH)},
        "head": dense(WIDTH, VOCABULARY),
    }


def norm(x: jax.Array, scale: jax.Array) -> jax.Array:
    """Layer norm without a bias."""
    x = x - x.mean(-1, keepdims=True)
    return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6) * scale


def attention(p: dict[str, jax.Array], x: jax.Array) -> jax.Array:
    """Causal self-attention."""
    b, length, d = x.shape
    q, k, v = ((x @ p[name]).reshape(b, length, HEADS, d // HEADS) for name in ("query", "key", "value"))
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * (d // HEADS) ** -0.5
    scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e30)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v).reshape(b, length, d) @ p["out"]


def loss_fn(params: dict[str, Any], tokens: jax.Array) -> jax.Array:
    """Mean cross-entropy of the next token."""
    inputs, labels = tokens[:, :-1], tokens[:, 1:]
    x = params["embedding"][inputs] + params["positions"]
    for p in params["layers"]:
        x = x + attention(p["attention"], norm(x, p["norm1"]["scale"]))
        h = jax.nn.gelu(norm(x, p["norm2"]["scale"]) @ p["mlp"]["up"] + p["mlp"]["up_bias"])
        x = x + h @ p["mlp"]["down"] + p["mlp"]["down_bias"]
    scores = jax.nn.log_softmax(norm(x, params["norm"]["scale"]) @ params["head"])
    return -jnp.take_along_axis(scores, labels[..., None], -1).mean()


def train_step(state: Any, tokens: jax.Array) -> tuple[Any, jax.Array]:
    """One step of Adam."""
    params, first, second, count = state
    loss, grads = jax.value_and_grad(loss_fn)(params, tokens)
    count = count + 1
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, grads)
    second = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, second, grads)

    def update(p: jax.Array, m: jax.Array, v: jax.Array) -> jax.Array:
        return p - 1e-3 * m / (1 - 0.9**count) / (jnp.sqrt(v / (1 - 0.99**count)) + 1e-8)

    return (jax.tree.map(update, params, first, second), first, second, count), loss


def example() -> tuple[Any, jax.Array]:
    """Arguments of the step."""
    params = init(jax.random.key(0))
    zeros = jax.tree.map(jnp.zeros_like, params)
    tokens = jax.random.randint(jax.random.key(1), (BATCH, LENGTH + 1), 0, VOCABULARY)
    return (params, zeros, zeros, jnp.zeros((), jnp.int32)), tokens
