"""Settings in dicts: inside the branch of `if config["save"]:`, the item has the tested value. So it has in
functions that are transformed there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from jaxlint.staging.values import UNKNOWN, DictValue
from jaxlint.staging.values.tested import TestedItem
from jaxlint.staging.values.truth import decided

if TYPE_CHECKING:
    from jaxlint.staging.values.frame import Frame


ITEM_TESTS = (ast.Subscript, ast.UnaryOp)  # the forms of such a test


def tested_item(test: ast.expr, outcome: bool, frame: Frame) -> TestedItem | None:
    """What a test implies about a dict item with a constant key whose value was unknown."""
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, outcome = test.operand, not outcome
    if not (isinstance(test, ast.Subscript) and isinstance(test.slice, ast.Constant)):
        return None
    found = frame.scope.lookup(test.value.id) if isinstance(test.value, ast.Name) else None
    held = found[0] if found is not None else None
    if not isinstance(held, DictValue):
        return None
    item = held.items.get(test.slice.value, held.element)
    if item is None:
        return None
    value = decided(item if test.slice.value in held.items else UNKNOWN, outcome)
    return TestedItem(held.items, test.slice.value, value) if value is not item else None


@contextmanager
def assuming_tests(tested: Sequence[TestedItem]) -> Iterator[None]:
    """Inside, the items have their tested values, whoever holds the dicts."""
    before = [one.items.get(one.key) for one in tested]
    for one in tested:
        one.items[one.key] = one.value
    try:
        yield
    finally:
        for one, held in zip(reversed(tested), reversed(before), strict=True):
            if one.items.get(one.key) is not one.value:
                continue  # the branch has set it
            if held is not None:
                one.items[one.key] = held
            else:
                del one.items[one.key]
