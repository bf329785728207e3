"""Dict items that a branch has tested."""

from __future__ import annotations

from dataclasses import dataclass

from jaxlint.staging.values.plain import Value


@dataclass(frozen=True, slots=True, eq=False)
class TestedItem:
    """`items[key]` was tested: it is `value` in one branch."""

    items: dict[object, Value]
    key: object
    value: Value
