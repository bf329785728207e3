"""The arguments of a function in a run, as values of the source analysis."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from jaxlint.codemods.purity.program import FunctionNode, Program
from jaxlint.codemods.purity.values import (
    ARRAY,
    NONE,
    NUMBER,
    NUMPY,
    TEXT,
    TYPE,
    Box,
    Cls,
    Inst,
    Made,
    Unknown,
    Values,
    one,
    unknown,
)

_KINDS = {
    "ArrayImpl": ARRAY, "ndarray": NUMPY, "int": NUMBER, "float": NUMBER, "bool": NUMBER, "complex": NUMBER, "str": TEXT,
    "NoneType": NONE, "type": TYPE,
}  # fmt: skip
_BOXES = {
    "dict": "dict",
    "list": "list",
    "tuple": "tuple",
    "set": "set",
    "FrozenDict": "dict",
    "OrderedDict": "dict",
}
_LIBRARIES = ("optax.", "flax.", "haiku.", "equinox.", "distrax.", "chex.")


def hints_of(
    entries: Iterable[Mapping[str, object]], function: FunctionNode, program: Program
) -> dict[tuple[FunctionNode, str], Values]:
    """The arguments of a function in a run (`describe` of the runtime), as values."""
    found: dict[tuple[FunctionNode, str], Values] = {}
    for entry in entries:
        values = _seen(entry, program)
        if values:
            found[(function, str(entry["name"]).lstrip("*"))] = values
    return found


def _seen(entry: Mapping[str, object], program: Program) -> Values:
    kind = str(entry.get("type", ""))
    if kind in _KINDS:
        return one(_KINDS[kind])
    if kind in program.classes:
        return frozenset(Inst(Cls(node, file)) for file, node in program.classes[kind])
    module = str(entry.get("module", ""))
    holds = entry.get("holds")
    parts: Values = (
        frozenset(_KINDS.get(str(name), Unknown(str(name))) for name in holds)
        if isinstance(holds, list | tuple) and holds
        else unknown()
    )
    if kind in _BOXES:
        return one(Box(_BOXES[kind], None, parts))
    if module.startswith(_LIBRARIES):
        public = module.replace("._src", "")
        if (
            isinstance(holds, list | tuple)
            and holds
            and not kind.startswith("GradientTransformation")  # an optimiser, which is a tuple of functions
            and not module.startswith(("flax.training", "flax.linen", "flax.nnx.training", "haiku"))
        ):
            return one(Box("tuple", None, parts))  # the state of an optimiser
        if module.startswith("flax.training"):
            return one(Made(f"{module}.{kind}"))
        part = "linen." if ".linen" in module else "nnx." if ".nnx" in module else ""
        return one(Made(f"{public.partition('.')[0]}.{part}{kind}"))
    return frozenset()


def dtypes_of(seen: Iterable[Mapping[str, object]]) -> dict[str, set[str]]:
    """The dtypes of a function's parameters in a run, for parameters whose dtypes the run has all seen."""
    found: dict[str, set[str]] = {}
    for entry in seen:
        leaves = entry.get("leaves")
        if isinstance(leaves, list | tuple) and leaves and "more_leaves" not in entry:
            found[str(entry["name"])] = {str(leaf.get("dtype", "?")) for leaf in leaves}
    return found
