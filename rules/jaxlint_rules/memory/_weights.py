"""The number of weights in modules of equinox and nnx, from the sizes of their layers."""

from __future__ import annotations

import math
import re

from jaxlint.api import Module
from jaxlint.api.values import DictValue, ExternalObject, Instance, ListValue, TupleValue, Value, constant

# Layers with a matrix between two sizes: the number of such matrices, and the names of the sizes.
_IN, _OUT = (
    ("in_features", "in_size", "input_size", "num_embeddings"),
    (
        "out_features",
        "hidden_size",
        "embedding_size",
        "features",
    ),
)
_MATRICES = {"Linear": 1, "Embedding": 1, "Embed": 1, "GRUCell": 3, "LSTMCell": 4}
_FRAMEWORKS = ("equinox.nn.", "flax.nnx.")
_PARTS = ("equinox", "nnx")  # kinds of classes whose objects hold their weights
_DEPTH = 4


def weights_of(value: Value | None, depth: int = 0) -> int:
    """A lower bound on the weights of a layer, module or container; 0 if none are known."""
    if depth > _DEPTH:
        return 0
    if isinstance(value, ExternalObject):
        return _of_layer(value)
    parts: list[Value] = []
    if isinstance(value, Instance) and value.cls.kind in _PARTS:
        parts = list(value.fields.values())
    elif isinstance(value, (DictValue, ListValue, TupleValue)):
        parts = list(value.elements())
    return sum(weights_of(part, depth + 1) for part in parts)


def _of_layer(made: ExternalObject) -> int:
    name = made.name.rpartition(".")[2]
    if not made.name.startswith(_FRAMEWORKS):
        return 0
    if name == "MLP":
        sizes = [
            _size(made, position, (word,))
            for position, word in enumerate(("in_size", "out_size", "width_size", "depth"))
        ]
        given, out, width, depth = sizes
        return width * (given + out + max(0, depth - 1) * width)
    return _MATRICES.get(name, 0) * math.prod((_size(made, 0, _IN), _size(made, 1, _OUT)))


def _size(made: ExternalObject, position: int, words: tuple[str, ...]) -> int:
    named = next((made.kwargs[word] for word in words if word in made.kwargs), None)
    value = made.args[position] if position < len(made.args) else named
    const = constant(value) if value is not None else None
    return const if type(const) is int else 0


_WORLDS = re.compile(
    r"^\s*(?:import|from)\s+(gym|gymnasium|gymnax|envpool|dm_control|jumanji|brax|craftax|minatar|navix|bsuite|pgx|stable_baselines3)\b",
    re.MULTILINE,
)
_BIG_LAYERS = re.compile(
    r"Conv|Attention|Transformer|Embed|ResNet|LSTM|GRU|UNet|Impala|\bGPT|\bViT|[Pp]ixels|Atari"
)


def has_small_agents(module: Module) -> bool:
    """Whether a file trains agents that act on numbers, with two layers each. A second copy of these does not
    matter; agents that see pictures or sequences are larger.
    """
    text = module.source.text
    return _WORLDS.search(text) is not None and _BIG_LAYERS.search(text) is None
