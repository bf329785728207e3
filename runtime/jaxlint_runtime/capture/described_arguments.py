"""A description of one call's arguments: shapes, dtypes, weak types, shardings, pytree structure, static values."""

from __future__ import annotations

import enum
import inspect
import reprlib
import sys
from types import FrameType
from typing import Any

from jaxlint_runtime.capture import signature

_VARIABLES = 64
_LEAVES = 32  # leaves that are described for one argument
_LONGEST = 200  # characters of a pytree structure
_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_USUAL = (
    "builtins",
    "numpy",
    "jaxlib._jax",
    "jaxlib.xla_extension",
)  # modules whose types are shown by their short name
_REPR = reprlib.Repr()
_REPR.maxstring = _REPR.maxother = 60


def describe_frame(frame: FrameType) -> list[dict[str, Any]]:
    """The arguments of the call that has just entered `frame`."""
    code, values = frame.f_code, frame.f_locals
    positional, named = code.co_argcount, code.co_argcount + code.co_kwonlyargcount
    names = list(code.co_varnames[:named])
    if code.co_flags & inspect.CO_VARKEYWORDS:
        names.append("**" + code.co_varnames[named + bool(code.co_flags & inspect.CO_VARARGS)])
    if code.co_flags & inspect.CO_VARARGS:
        names.insert(positional, "*" + code.co_varnames[named])
    return [describe(name, values[name.lstrip("*")]) for name in names if name.lstrip("*") in values]


def describe_variables(frame: FrameType) -> list[dict[str, Any]]:
    """The variables of a call that hold arrays, the first `_VARIABLES` of them."""
    found = []
    for name, value in list(frame.f_locals.items())[:_VARIABLES]:
        described = describe(name, value)
        if "leaves" in described:
            found.append(described)
    return found


def describe(name: str, value: Any) -> dict[str, Any]:
    """One argument. Reads no array contents and calls no `repr` of the user's classes.

    `leaves` has its arrays by place; `structure` is that of a pytree with arrays; `value` is for arguments without
    arrays. `holds` has the types of all leaves of a container, `module` the module that defines a class.
    """
    leaves, structure = _arrays(value)
    arrays = [(place, leaf) for place, leaf in leaves if getattr(leaf, "shape", None) is not None]
    out: dict[str, Any] = {"name": name, "type": type(value).__name__}
    if (module := type(value).__module__) not in _USUAL:
        out["module"] = module
    if leaves and leaves[0][0]:
        out["holds"] = sorted({type(leaf).__name__ for _, leaf in leaves})
    if not arrays:
        if (text := _text(value)) is not None:
            out["value"] = text
        return out
    if arrays[0][0] or len(leaves) > 1:
        text = str(structure).removeprefix("PyTreeDef(").removesuffix(")")
        out["structure"] = text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
    out["leaves"] = [_leaf(place, leaf) for place, leaf in arrays[:_LEAVES]]
    if len(arrays) > _LEAVES:
        out["more_leaves"] = len(arrays) - _LEAVES
    return out


def _arrays(value: Any) -> tuple[list[tuple[str, Any]], Any]:
    if "jax" not in sys.modules:
        return [("", value)], None
    from jax import tree_util

    flat, structure = tree_util.tree_flatten_with_path(value)
    return [(tree_util.keystr(path), leaf) for path, leaf in flat], structure


def _leaf(place: str, value: Any) -> dict[str, Any]:
    leaf = signature.read_leaf(value)
    return {
        "place": place,
        "shape": list(leaf.shape or ()),
        "dtype": leaf.dtype,
        "weak_type": leaf.weak,
        "sharding": leaf.sharding,
    }


def _text(value: Any) -> str | None:
    """A value whose text is meaningful; None for objects, whose `repr` may do anything."""
    if isinstance(value, enum.Enum):
        return f"{type(value).__qualname__}.{value.name}"
    if isinstance(value, _PLAIN):
        return _REPR.repr(value)
    if isinstance(value, tuple | list) and all(isinstance(item, _PLAIN) for item in value[:100]):
        return _REPR.repr(value)
    if isinstance(value, type) or callable(value):
        name = getattr(value, "__qualname__", None)
        return name if isinstance(name, str) else None
    return None
