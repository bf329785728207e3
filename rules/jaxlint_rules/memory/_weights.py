"""The number of weights in networks, from the sizes of their layers."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Iterable

from jaxlint.api import CallEvent, Module, Why
from jaxlint.api.values import (
    Array,
    DictValue,
    External,
    ExternalObject,
    Function,
    Instance,
    ListValue,
    NumpyArray,
    Static,
    TupleValue,
    Value,
    constant,
    parts_of,
    symbolic_shape,
)
from jaxlint_rules._cost import LARGE, PLAIN
from jaxlint_rules.memory._widths import are_narrow

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


# Layers of linen and haiku with one matrix, and those without weights that count.
_DENSE = frozenset({"Dense", "DenseGeneral", "Linear"})
_SLIGHT = frozenset(
    """Dropout LayerNorm BatchNorm GroupNorm RMSNorm InstanceNorm WeightNorm PReLU Identity Lambda""".split()  # noqa: SIM905
)
_LINEN = ("flax.linen.", "haiku.")
_CONV = frozenset({"Conv", "ConvTranspose"})
_WIDEST = 1024  # what an input of unknown width is taken for
_MOMENTS = 2  # that an optimiser keeps of each weight
SMALL = LARGE // 4 // (1 + _MOMENTS)  # weights whose second copy is not felt, with those of each
BARE = LARGE // 4  # the same without moments
PLAINLY_SMALL = PLAIN * SMALL  # where a file of a project has to show that it matters


class Networks:
    """The layers that compiled steps are seen to run, by the reason why a step is traced."""

    def __init__(self) -> None:
        self.layers: dict[ast.AST, dict[ast.AST, int | None]] = {}
        self.exact: dict[
            ast.AST, int
        ] = {}  # layers whose input is known somewhere, as where they are initialised

    def note(self, event: CallEvent) -> None:
        """Records the call of a layer."""
        made = event.callee
        if (
            not isinstance(made, ExternalObject)
            or not made.name.startswith(_LINEN)
            or ".Module." in made.name
        ):
            return
        weights, exact = _of_call(made, event)
        if exact and weights is not None:
            self.exact[event.node] = max(weights, self.exact.get(event.node, 0))
        for link in event.frame.stage.why.chain() if event.frame.stage.why is not None else ():
            if link.node is not None and link.function:
                seen = self.layers.setdefault(link.node, {})
                before = seen.get(event.node, 0)
                seen[event.node] = None if weights is None or before is None else max(weights, before)

    def is_small(self, why: Why) -> bool:
        """Whether a step runs a network, and all of its layers are known and narrow."""
        sizes = self._sizes(why)
        return bool(sizes) and None not in sizes and _sum(sizes) < PLAINLY_SMALL

    def is_large(self, why: Why, least: int = SMALL) -> bool:
        """Whether the layers that a step runs, as far as they are known, hold more weights than a small network."""
        return _sum(self._sizes(why)) >= least

    def _sizes(self, why: Why) -> list[int | None]:
        """The weights of each layer that a step runs; None for those that may have any number."""
        seen = self.layers.get(why.node, {}) if why.node is not None else {}
        return [self.exact.get(layer, size) for layer, size in seen.items()]


def _sum(sizes: Iterable[int | None]) -> int:
    """The sum of the known ones."""
    return sum(size for size in sizes if size is not None)


def _of_call(made: ExternalObject, event: CallEvent) -> tuple[int | None, bool]:
    """The weights of a layer that is called, None if it may have any number; and whether its input is known."""
    name = made.name.rpartition(".")[2]
    if name in _SLIGHT:
        return 0, True
    given = made.args[0] if made.args else made.kwargs.get("features", made.kwargs.get("output_size"))
    features = constant(given) if given is not None else None
    times = _times(event)
    if name not in _DENSE | _CONV or type(features) is not int or times is None:
        return None, False
    shape = symbolic_shape(event.args[0]) if event.args else None
    width = shape[-1] if shape else None
    if name in _CONV:
        kernel = made.args[1] if len(made.args) > 1 else made.kwargs.get("kernel_size")
        sizes = [constant(part) for part in parts_of(kernel)] if kernel is not None else []
        if not sizes or not all(type(size) is int for size in sizes) or not isinstance(width, int):
            return None, False
        times *= math.prod(size for size in sizes if isinstance(size, int))
    known = isinstance(width, int)
    return times * features * (width if isinstance(width, int) else _WIDEST), known


def _times(event: CallEvent) -> int | None:
    """How many layers a call in loops makes."""
    counts = [one.trips for one in event.frame.loops]
    return None if None in counts else math.prod(count for count in counts if count is not None)


def is_small(value: Value) -> bool:
    """Whether an object of equinox or nnx, or a container of arrays, is a network of which all parts are known and small."""
    if not isinstance(value, (Instance, ExternalObject, DictValue, ListValue, TupleValue)):
        return False
    weights = _of_known(value, 0)
    return weights is not None and 0 < weights < PLAINLY_SMALL


def has_many_weights(value: Value, least: int = SMALL) -> bool:
    """Whether the parts of a network that are known hold more weights than a small one."""
    return (_of_known(value, 0, 0) or 0) >= least


def _of_known(value: Value, depth: int, other: int | None = None) -> int | None:
    """The weights of a module or container, with `other` for parts that may have any number; None if one has None."""
    if isinstance(value, (Static, Function, External)):
        return 0
    if isinstance(value, ExternalObject):
        name = value.name.rpartition(".")[2]
        if not value.name.startswith(_FRAMEWORKS) or (name not in _MATRICES and name != "MLP"):
            return 0 if name in _SLIGHT else other
        return _of_layer(value) or other
    if isinstance(value, (Array, NumpyArray)):
        shape = symbolic_shape(value)
        sizes = [size for size in shape or () if isinstance(size, int)]
        return math.prod(sizes) if shape is not None and len(sizes) == len(shape) else other
    parts: list[Value]
    if isinstance(value, Instance) and value.cls.kind in _PARTS:
        parts = list(value.fields.values())
    elif isinstance(value, (ListValue, TupleValue)) and value.items is not None:
        parts = list(value.items)
    elif isinstance(value, DictValue) and value.element is None:
        parts = list(value.items.values())
    else:
        return other
    counts = [_of_known(part, depth + 1, other) if depth < _DEPTH else other for part in parts]
    return None if None in counts else _sum(counts)


# Words of programs whose networks are seldom small: models of pictures and of text that are many layers deep, what trains them,
# and several devices. Single convolutions, embeddings and recurrent cells are in small networks as well.
_SELDOM_SMALL = re.compile(
    r"attention|transformer|\bres_?net|resnet_?block|dense_?net|u_?net\b|\bgpt|\bvit|llama|mamba|\bvgg|diffusion|pretrained"
    r"|imagenet|cifar|pmap|sharding|\bmesh\b|shard_map",
    re.IGNORECASE,
)


_IMPORTS = re.compile(
    r"^\s*(from|import) .*$", re.MULTILINE
)  # `from jax import jit, pmap, vmap` uses none of them


def seldom_small(modules: Iterable[Module], imports: Callable[[Module], list[Module]]) -> bool:
    """Whether files, or those that they import, speak of layers for pictures, sequences or text, or of several devices. Not if they
    write down how wide the layers are, and all are narrow."""
    files = {module.source.path: module for module in modules}
    near = files | {one.source.path: one for module in files.values() for one in imports(module)}
    speak = any(_SELDOM_SMALL.search(_IMPORTS.sub("", one.source.text)) for one in near.values())
    return speak and not are_narrow(near.values())
