"""Items of dicts that a branch has asked for."""

from __future__ import annotations

from dataclasses import dataclass

from jaxlint.staging.values.plain import Value


@dataclass(frozen=True, slots=True, eq=False)
class TestedItem:
    """`items[key]` was tested, and is `value` under one outcome."""

    items: dict[object, Value]
    key: object
    value: Value
