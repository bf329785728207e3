"""The number of weights in modules of equinox and nnx, from the sizes of their layers, and files that train small networks."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterable

from jaxlint.api import Module
from jaxlint.api.syntax import dotted, nodes_of
from jaxlint.api.values import DictValue, ExternalObject, Instance, ListValue, TupleValue, Value, constant
from jaxlint_rules._names import last_name, names_in, passed

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


_SIZES = re.compile(
    r"(layer|hidden)\w*(size|dim|feature|unit|width)|(size|dim|feature|unit|width)\w*(layer|hidden)|^layers$"
)
_DENSE = frozenset({"Linear", "Dense", "MLP"})
_FEW = re.compile(r"class|action|label|output")  # sizes that are small
_WIDE = 512  # units: two layers of these have 262,144 weights
_DEEP = 8


def has_small_networks(modules: Iterable[Module]) -> bool:
    """Whether the files show what networks they train, and these are a few dense layers of known, small sizes."""
    found = False
    for module in modules:
        if _BIG_LAYERS.search(module.source.text) is not None:
            return False
        sizes = _sizes_written(module)
        if sizes is None:
            return False
        found = found or bool(sizes)
        if len(sizes) > _DEEP or any(size > 2 * _WIDE for size in sizes) or sorted(sizes)[-2:-1] > [_WIDE]:
            return False
    return found


def _sizes_written(module: Module) -> list[int] | None:
    """The sizes of the dense layers that a file writes; None if one of them is not written as a number."""
    found: list[int] = []
    for call in nodes_of(module.tree, ast.Call):
        if last_name(call.func) in _DENSE:
            sizes = [number for one in passed(call) for number in _numbers(one)]
            if not sizes and not any(
                _FEW.search(name.lower()) for one in passed(call) for name in names_in(one)
            ):
                return None
            found += sizes
    for statement in [*nodes_of(module.tree, ast.Assign), *nodes_of(module.tree, ast.AnnAssign)]:
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        if isinstance(statement.value, (ast.List, ast.Tuple)) and any(
            _SIZES.search(dotted(target).lower()) for target in targets
        ):
            found += _numbers(statement.value)
    return found


def _numbers(node: ast.expr) -> list[int]:
    return [part.value for part in nodes_of(node, ast.Constant) if type(part.value) is int]
