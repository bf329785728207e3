"""Functions that the program itself jits: their values went through `jit` before, whatever compiles their calls now."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Set

from jaxlint.codemods.facts.applied_transforms import PARTIAL
from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.purity.program import File
from jaxlint.codemods.purity.values import Fn, Value, Wrapped

FILTERED = "equinox.filter_jit"
_JITS = frozenset({"jax.jit", FILTERED})
_ARGUMENTS = (ast.Name, ast.Attribute, ast.Subscript, ast.Constant)


def is_jitted(value: Value, possible: PossibleValues, jits: Set[str] = _JITS) -> bool:
    """Whether a value is a function that the program jits, with a decorator or a call."""
    if isinstance(value, Wrapped):
        return value.how in jits
    if not isinstance(value, Fn):
        return False
    for decorator in getattr(value.node, "decorator_list", ()):
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        name = possible.name_of(called, value.file)
        if name == PARTIAL and isinstance(decorator, ast.Call) and decorator.args:
            name = possible.name_of(decorator.args[0], value.file)
        if name in jits:
            return True
    return False


def calls_filtered(nodes: Iterable[ast.AST], possible: PossibleValues, file: File) -> bool:
    """Whether they call a function that equinox jits, whose arguments may hold more than arrays."""
    calls = (
        part
        for node in nodes
        for part in ast.walk(file.same(node))
        if isinstance(part, ast.Call)  # type: ignore[type-var]
    )
    return any(
        is_jitted(value, possible, frozenset({FILTERED}))
        for call in calls
        for value in possible.of(call.func, file)
    )


def only_jitted_calls(nodes: Iterable[ast.AST], possible: PossibleValues, file: File) -> bool:
    """Whether statements and expressions only call jitted functions with variables, and name the results."""
    return all(_is_jitted_call(file.same(node), possible, file) for node in nodes)  # type: ignore[type-var]


def _is_jitted_call(node: ast.AST, possible: PossibleValues, file: File) -> bool:
    if isinstance(node, ast.Name):
        return True
    value = node.value if isinstance(node, ast.Assign) else node
    if not isinstance(value, ast.Call):
        return False
    called = possible.of(value.func, file)
    given = [*value.args, *(one.value for one in value.keywords)]
    return (
        bool(called)
        and all(is_jitted(one, possible) for one in called)
        and all(isinstance(one, _ARGUMENTS) for one in given)
    )
