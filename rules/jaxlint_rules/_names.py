"""What names in the source are written as, and stand for."""

from __future__ import annotations

import ast

from jaxlint.api import Module, Scope
from jaxlint.api.syntax import dotted, walk
from jaxlint.api.tables import canonical
from jaxlint.api.values import External


def last_name(node: ast.AST) -> str:
    """`zeros` of `jax.numpy.zeros`; "" of what is no path of names."""
    return dotted(node).rpartition(".")[2]


def names_in(node: ast.AST | None) -> set[str]:
    """The variables that an expression or statement reads or binds."""
    return {child.id for child in walk(node) if isinstance(child, ast.Name)} if node is not None else set()


def bound_by(statement: ast.AST) -> set[str]:
    """The variables that an assignment writes, also those of which it writes a part; none of any other statement."""
    if not isinstance(statement, ast.Assign):
        return set()
    return set().union(*(names_in(target) for target in statement.targets))


def variable_given(statement: ast.AST | None) -> str:
    """The variable that an assignment writes, where it is the only target; "" of any other statement."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return ""
    return statement.targets[0].id if isinstance(statement.targets[0], ast.Name) else ""


def passed(call: ast.Call) -> list[ast.expr]:
    """What a call passes, by position and by name."""
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def function_around(node: ast.AST, module: Module) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """The function with a name whose body a place lies in."""
    for above in module.ancestors(node):
        if isinstance(above, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return above
    return None


def unpacked(target: ast.expr) -> list[ast.expr]:
    """`a` and `b` of the target `a, b`; the target itself where it is one."""
    return target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]


def external_name(node: ast.AST, scope: Scope) -> str:
    """The full name of what an expression takes from a library, as `jax.numpy.zeros`; "" of anything else."""
    root, _, path = dotted(node).partition(".")
    held = scope.value_of(root) if root else None
    if not isinstance(held, External):
        return ""
    return canonical(f"{held.name}.{path}" if path else held.name)
