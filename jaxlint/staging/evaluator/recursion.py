"""Recursive calls that come to an end: those that go down into the containers that they are given."""

from __future__ import annotations

from collections.abc import Iterable

from jaxlint.staging.values import CONTAINERS, Function, Value
from jaxlint.staging.values.frame import Frame

_MOST = 5  # containers in each other


def descends(function: Function, bound: dict[str, Value], active: int, caller: Frame | None) -> bool:
    """Whether a recursive call gets less deeply nested containers than the call of `function` around it. `active`: how many are
    under way."""
    while caller is not None and (caller.function is None or caller.function.node is not function.node):
        caller = caller.caller
    if caller is None or active > _MOST:
        return False
    given = (caller.scope.variables.get(name) for name in bound)
    return _nesting(bound.values()) < _nesting(value for value in given if value is not None)


def _nesting(values: Iterable[Value], most: int = _MOST) -> int:
    """How deep containers lie in each other; `most` at most."""
    held = [value for value in values if type(value) in CONTAINERS] if most else []
    return max((1 + _nesting(value.elements(), most - 1) for value in held), default=0)  # type: ignore[attr-defined]
