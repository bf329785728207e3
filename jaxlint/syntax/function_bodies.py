"""The nodes of a function without those of nested functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator

NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def own_nodes(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Module) -> Iterator[ast.AST]:
    """The nodes of a body, of a function or a module, in source order, without the bodies of nested functions and classes.

    The nested definitions themselves are included. The caller may change a node once it has it; the walk then
    continues into the original.
    """
    stack: list[ast.AST] = list(reversed(function.body))
    while stack:
        node = stack.pop()
        below = [] if isinstance(node, NESTED) else list(ast.iter_child_nodes(node))
        yield node
        stack.extend(reversed(below))
