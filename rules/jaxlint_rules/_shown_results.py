"""Loops that show or save results: they draw plots, print the rows of a table or write lines of a file."""

from __future__ import annotations

import ast

from jaxlint.api.syntax import cache, dotted, walk
from jaxlint_rules._names import last_name
from jaxlint_rules._purpose import PLOTTERS

_PLOTS = PLOTTERS | {"axis"}


@cache
def shows_results(loop: ast.AST) -> bool:
    """Whether a loop displays results: it draws plots, or iterates over settings that are literals."""
    iterable = getattr(loop, "iter", None)
    if isinstance(iterable, (ast.List, ast.Tuple)):
        return True
    return any(
        isinstance(node, ast.Call) and dotted(node.func).partition(".")[0] in _PLOTS
        for statement in getattr(loop, "body", [])
        for node in walk(statement)
    )


_PRINTS = frozenset(
    {"print", "pprint", "info", "debug", "warning", "echo", "add_row", "writerow", "log", "add_scalar"}
)


@cache
def lists_rows(loop: ast.AST) -> bool:
    """Whether each iteration prints a row of a table: its body ends with one, or is one."""
    body = getattr(loop, "body", [])
    last = body[-1] if isinstance(body, list) and body else None
    return (
        isinstance(last, ast.Expr)
        and isinstance(last.value, ast.Call)
        and last_name(last.value.func) in _PRINTS
    )


_WRITES = frozenset({"write", "writelines", "writerow", "writerows"})


@cache
def writes_file(loop: ast.AST) -> bool:
    """Whether each iteration writes lines of a file, as when results are saved: `f.write(f"t = {i}")`."""
    return any(
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Call)
        and isinstance(statement.value.func, ast.Attribute)
        and statement.value.func.attr in _WRITES
        for statement in getattr(loop, "body", [])
    )
