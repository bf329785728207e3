"""Expressions that stand in strings, such as quoted annotations."""

from __future__ import annotations

import ast


def parse_expression(text: str) -> ast.expr:
    """The expression. Raises SyntaxError. Repeated if Python 3.11 miscounts its own depth (gh-106905)."""
    try:
        return ast.parse(text, mode="eval").body
    except SystemError:
        return ast.parse(text, mode="eval").body
