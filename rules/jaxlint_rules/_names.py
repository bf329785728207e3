"""Names in the source: their spelling and their meaning."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.api import Module, Scope
from jaxlint.api.syntax import dotted, walk
from jaxlint.api.tables import canonical
from jaxlint.api.values import External


def last_name(node: ast.AST) -> str:
    """`zeros` in `jax.numpy.zeros`; "" for anything but a path of names."""
    return dotted(node).rpartition(".")[2]


def is_new_axis(part: ast.AST) -> bool:
    """Whether a part of an index adds an axis: `None` or `jnp.newaxis`."""
    return (isinstance(part, ast.Constant) and part.value is None) or last_name(part) == "newaxis"


def names_in(node: ast.AST | None) -> set[str]:
    """The variables that an expression or statement reads or binds."""
    return {child.id for child in walk(node) if isinstance(child, ast.Name)} if node is not None else set()


def bound_by(statement: ast.AST) -> set[str]:
    """The variables that an assignment writes, completely or in part; empty for any other statement."""
    if not isinstance(statement, ast.Assign):
        return set()
    return set().union(*(names_in(target) for target in statement.targets))


def variable_given(statement: ast.AST | None) -> str:
    """The variable that an assignment writes, if it is the only target; "" for any other statement."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return ""
    return statement.targets[0].id if isinstance(statement.targets[0], ast.Name) else ""


def passed(call: ast.Call) -> list[ast.expr]:
    """The arguments of a call, by position and by name."""
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def updated_at(call: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    """`x` and `i` in `x.at[i].set(y)`; None for anything else."""
    place = call.func.value if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else None
    if not isinstance(place, ast.Subscript) or not isinstance(place.value, ast.Attribute):
        return None
    return (place.value.value, place.slice) if place.value.attr == "at" else None


def function_around(node: ast.AST, module: Module) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """The named function whose body contains a place."""
    for above in module.ancestors(node):
        if isinstance(above, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return above
    return None


def unpacked(target: ast.expr) -> list[ast.expr]:
    """`a` and `b` for the target `a, b`; otherwise the target itself."""
    return target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]


def flattened(target: ast.expr) -> Iterator[ast.expr]:
    """`a`, `b` and `c` for the target `(a, b), c`; otherwise the target itself."""
    for part in unpacked(target):
        if isinstance(part, (ast.Tuple, ast.List)):
            yield from flattened(part)
        else:
            yield part


def external_name(node: ast.AST, scope: Scope) -> str:
    """The full name of a library member, such as `jax.numpy.zeros`; "" for anything else."""
    root, _, path = dotted(node).partition(".")
    held = scope.value_of(root) if root else None
    if not isinstance(held, External):
        return ""
    return canonical(f"{held.name}.{path}" if path else held.name)
