"""Comparisons that ask whether two values are the same object."""

from __future__ import annotations

import ast

from jaxlint.codemods.purity.values import TEXT, Box, Values

_SEARCHING = frozenset({"index", "remove", "count"})  # of a list


def compared(node: ast.AST) -> list[ast.expr]:
    """Operands compared by identity: by `is`, or before `==` in a search through a list."""
    if isinstance(node, ast.Compare):
        if any(isinstance(op, ast.Is | ast.IsNot) for op in node.ops):
            return [node.left, *node.comparators]
        return [node.left] if any(isinstance(op, ast.In | ast.NotIn) for op in node.ops) else []
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _SEARCHING:
        return node.args[:1]
    return []


def searched(node: ast.AST) -> ast.expr | None:
    """What is searched, by `letters.index(x)` and `x in letters`."""
    if isinstance(node, ast.Compare):
        return node.comparators[-1] if isinstance(node.ops[-1], ast.In | ast.NotIn) else None
    return node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None


def finds_no_array(searched: Values) -> bool:
    """Whether a search compares no arrays: in text, or by hashes, which arrays do not have."""
    return searched == {TEXT} or (
        bool(searched)
        and all(isinstance(one, Box) and one.kind in ("set", "frozenset", "dict") for one in searched)
    )
