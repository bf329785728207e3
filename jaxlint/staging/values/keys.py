"""PRNG keys as data: those that a path has consumed, and those in a call's arguments. `tracking/keys.py` follows them."""

from __future__ import annotations

import ast

from jaxlint.staging.values.arrays import Array
from jaxlint.staging.values.objects import CONTAINERS, BoundMethod, ClassValue, External, Function, Instance
from jaxlint.staging.values.plain import STATICS, Origin, Unknown, Value

STREAMS = "rngs"  # the part of a key that flax modules draw from


class ConsumedKeys(dict[Origin, ast.AST]):
    """The keys that this path has consumed, each with its first use. A key consumed on one of two paths
    counts as consumed where they meet.
    """

    __slots__ = ()

    def copied(self) -> ConsumedKeys:
        return ConsumedKeys(self)

    def joined(self, other: ConsumedKeys) -> ConsumedKeys:
        return ConsumedKeys({**other, **self}) if other else self


_HOLD_NOTHING = STATICS | {Instance, Function, BoundMethod, ClassValue, External}


def key_origins(bound: dict[str, Value]) -> list[Origin | None]:
    """The origins of all arguments, in a fixed order. The fields of objects are left out, since methods rebind them."""
    found: list[Origin | None] = []
    for value in bound.values():
        if type(value) not in _HOLD_NOTHING:  # most are
            _add_origins(value, 2, found)
    return found


def _add_origins(value: Value, depth: int, found: list[Origin | None]) -> None:
    if type(value) is Array or isinstance(value, Unknown):
        origin = value.origin
        found.extend((None, None) if origin is None else (origin, origin.children.get(STREAMS)))
    elif depth > 0 and type(value) in CONTAINERS:
        for part in value.elements():  # type: ignore[attr-defined]
            _add_origins(part, depth - 1, found)
