"""The parts of `jax.jit`'s cache key, and the changes since the last compile.

Shapes, dtypes, weak types, shardings, the pytree structure and the static values of the arguments. They are read from
the arguments of the compiling call; buffers donated to that call still have all of them.
"""

from __future__ import annotations

import dataclasses
import re
import reprlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jaxlint_runtime.lowering.jit_options import Parameters

_SHOWN = 3  # differences named in one cause
_STEP = re.compile(r"""\[(?:'[^']*'|"[^"]*"|[^\]]*)\]|\.\w+""")  # from a node of a pytree to its child
_REPR = reprlib.Repr()
_REPR.maxstring = _REPR.maxother = 60


@dataclass(frozen=True, slots=True)
class Leaf:
    """One array (or Python scalar) among the arguments, as in the key of the tracing cache."""

    shape: tuple[int, ...] | None
    dtype: str
    weak: bool
    sharding: str | None
    kind: str = ""  # set if it is not an array: the Python type

    def __str__(self) -> str:
        shape = "" if self.shape is None else "[" + ",".join(map(str, self.shape)) + "]"
        return f"{self.dtype}{shape}" + (" (weak type)" if self.weak and not self.kind else "")


@dataclass(frozen=True, slots=True)
class Static:
    """A static argument: its value as text, and its hash if it has one."""

    text: str
    type: str
    hash: int | None
    numbers: Mapping[str, float] = field(
        default_factory=dict
    )  # its real numbers by field; by "" if it is one
    others: str = ""  # its other fields, as text


@dataclass(frozen=True, slots=True)
class Signature:
    """The key of one compile: leaves and static values by place ("params['w']"), structures by argument."""

    leaves: Mapping[str, Leaf]
    statics: Mapping[str, Static]
    structures: Mapping[str, Any]
    order: tuple[str, ...] = ()  # arguments in the order of the call


def read_signature(parameters: Parameters, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Signature:
    """The signature of one call. Needs JAX; never reads array contents."""
    from jax import tree_util

    leaves: dict[str, Leaf] = {}
    statics: dict[str, Static] = {}
    structures: dict[str, Any] = {}
    named = [
        (parameters.name(i), value, parameters.is_static_position(i, len(args)))
        for i, value in enumerate(args)
    ]
    named += [(name, value, name in parameters.static_names) for name, value in kwargs.items()]
    for name, value, static in named:
        if static:
            statics[name] = _static(value)
            continue
        flat, structure = tree_util.tree_flatten_with_path(value)
        structures[name] = structure
        for path, leaf in flat:
            leaves[name + tree_util.keystr(path)] = read_leaf(leaf)
    return Signature(leaves, statics, structures, tuple(name for name, _, _ in named))


def read_leaf(value: Any) -> Leaf:
    """One leaf; never reads array contents."""
    if isinstance(value, bool | int | float | complex):
        return Leaf(None, f"Python {type(value).__name__}", True, None, type(value).__name__)
    dtype = getattr(value, "dtype", None)
    shape = getattr(value, "shape", None)
    if dtype is None or shape is None:
        return Leaf(None, type(value).__name__, False, None, type(value).__name__)
    sharding = getattr(value, "sharding", None)
    # the placement of an array matters only if it was explicit
    placed = str(sharding) if sharding is not None and getattr(value, "committed", False) else None
    return Leaf(tuple(shape), str(dtype), bool(getattr(value, "weak_type", False)), placed)


def _static(value: Any) -> Static:
    try:
        text = _REPR.repr(value)
    except Exception:  # a user's `__repr__` may raise anything
        text = f"<{type(value).__name__}>"
    try:
        key: int | None = hash(value)
    except Exception:
        key = None
    numbers, others = _numbers_of(value)
    return Static(text, type(value).__name__, key, numbers, others)


def _numbers_of(value: Any) -> tuple[Mapping[str, float], str]:
    """The fields of a number, a dataclass or a named tuple that are real numbers, and the others as text."""
    if type(value) is float:
        return {"": value}, ""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [one.name for one in dataclasses.fields(value)]
    else:
        names = list(getattr(value, "_fields", ())) if isinstance(value, tuple) else []
    fields = {name: getattr(value, name, None) for name in names}
    numbers = {name: one for name, one in fields.items() if type(one) is float}
    return numbers, _REPR.repr({name: one for name, one in fields.items() if name not in numbers})


def only_leaves_differ(signatures: Sequence[Signature]) -> bool:
    """Whether all calls have the same arguments and static values, so that they differ in their arrays alone."""
    parts = [(one.leaves.keys(), one.statics, one.order) for one in signatures]
    return all(one == parts[0] for one in parts)


def explain(new: Signature, earlier: Iterable[Signature]) -> str:
    """Why a call with `new` compiled although `earlier` had: the difference from the most similar one."""
    best: list[str] | None = None
    fewest = 0
    for old in earlier:
        differences = compare(old, new)
        number = len(differences) + len(set(old.leaves) ^ set(new.leaves))
        if best is None or number < fewest:
            best, fewest = differences, number
    if best is None:
        return "first call"
    if not best:
        return "same arguments as before, but the JAX configuration, the mesh or the function object changed"
    more = f" and {len(best) - _SHOWN} more" if len(best) > _SHOWN else ""
    return "; ".join(best[:_SHOWN]) + more


def compare(old: Signature, new: Signature) -> list[str]:
    """The differences, one phrase each, static values first."""
    found: list[str] = []
    for name in _union(old.statics, new.statics):
        found += _static_difference(name, old.statics.get(name), new.statics.get(name))
    changed: set[str] = set()
    for name in _union(old.structures, new.structures):
        if name not in old.structures or name not in new.structures:
            found.append(f"`{name}` is {'new' if name in new.structures else 'no longer passed'}")
            changed.add(name)
        elif old.structures[name] != new.structures[name]:
            found.append(_structure_difference(name, old, new))
            changed.add(name)
    for place in _union(old.leaves, new.leaves):
        before, after = old.leaves.get(place), new.leaves.get(place)
        if before is None or after is None or before == after or _argument(place, new.order) in changed:
            continue
        if (before.shape, before.dtype, before.weak) == (after.shape, after.dtype, after.weak):
            found.append(f"`{place}`: {before.sharding or 'not placed'} -> {after.sharding or 'not placed'}")
        else:
            found.append(f"`{place}`: {before} -> {after}")
    return found


def _static_difference(name: str, old: Static | None, new: Static | None) -> list[str]:
    if old is None or new is None:
        present = new or old
        return [
            f"static `{name}` is {'new' if new else 'no longer passed'}: {present.text if present else ''}"
        ]
    if old == new:
        return []
    if old.text == new.text and old.type == new.type:
        return [
            f"static `{name}`: each call passes a new {new.type} that is not equal to the last ({new.text})"
        ]
    return [f"static `{name}`: {old.text} -> {new.text}"]


def _structure_difference(name: str, old: Signature, new: Signature) -> str:
    before = {place for place in old.leaves if _argument(place, old.order) == name}
    after = {place for place in new.leaves if _argument(place, new.order) == name}
    gone, come = sorted(before - after), sorted(after - before)
    if not gone and not come:
        return f"`{name}`: the pytree structure changed (a node type or its static data)"
    parts = []
    if come:
        parts.append("has new " + _some(_subtrees(come, before)))
    if gone:
        parts.append("lost " + _some(_subtrees(gone, after)))
    return f"`{name}`: the pytree structure changed: " + ", ".join(parts)


def _subtrees(places: list[str], others: set[str]) -> list[str]:
    """The places, leaves of one subtree as that subtree: the largest one that has no leaf in `others`."""
    found: dict[str, None] = {}
    for place in places:
        prefixes = [*(place[: step.end()] for step in _STEP.finditer(place)), place]
        found[next(prefix for prefix in prefixes if not any(_is_under(one, prefix) for one in others))] = None
    return list(found)


def _is_under(place: str, prefix: str) -> bool:
    return place.startswith(prefix) and place[len(prefix) : len(prefix) + 1] in ("", "[", ".")


def _some(places: list[str]) -> str:
    more = f" and {len(places) - 2} more" if len(places) > 2 else ""
    return ", ".join(f"`{place}`" for place in places[:2]) + more


def _argument(place: str, order: tuple[str, ...]) -> str:
    """The argument that a place belongs to: the longest argument name that it begins with."""
    return max((name for name in order if place.startswith(name)), key=len, default=place)


def _union(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    return [*new, *(name for name in old if name not in new)]
