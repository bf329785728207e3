"""What belongs to a function itself, and not to one inside it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def own_nodes(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.AST]:
    """The nodes of a body in the order of the source, without those of functions and classes inside it.

    Those themselves are among them. A node may be changed once it was given, and is then looked into as it was.
    """
    stack: list[ast.AST] = list(reversed(function.body))
    while stack:
        node = stack.pop()
        below = [] if isinstance(node, NESTED) else list(ast.iter_child_nodes(node))
        yield node
        stack.extend(reversed(below))
