"""Parsing again where Python 3.11 miscounts its own depth, as it sometimes does with threads (gh-106905)."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TypeVar

Tree = TypeVar("Tree")


def again_if_miscounted(parse: Callable[[], Tree]) -> Tree:
    """The result of `parse`, from the second attempt if the first raises SystemError."""
    try:
        return parse()
    except SystemError:
        return parse()


def parse_expression(text: str) -> ast.expr:
    """An expression that stands in a string, such as a quoted annotation. Raises SyntaxError."""
    return again_if_miscounted(lambda: ast.parse(text, mode="eval")).body
