"""The numbers that a file gives by default, to parameters and to fields."""

from __future__ import annotations

import ast

from jaxlint.api.syntax import cache, dotted, nodes_of


@cache
def numbers_given(tree: ast.Module) -> dict[str, frozenset[int]]:
    """The numbers that are defaults of parameters and fields, by name."""
    found: dict[str, frozenset[int]] = {}
    fields = [
        (dotted(statement.target), statement.value)
        for cls in nodes_of(tree, ast.ClassDef)
        for statement in cls.body
        if isinstance(statement, ast.AnnAssign)
    ]
    numbers = [(name, value.value) for name, value in fields if isinstance(value, ast.Constant)]
    for function in nodes_of(tree, ast.FunctionDef):
        numbers += defaults_of(function).items()
    for name, number in numbers:
        if type(number) is int:
            found[name] = found.get(name, frozenset()) | {number}
    return found


@cache
def defaults_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> dict[str, int]:
    """The parameters of a function whose default is a whole number."""
    given = function.args
    positional = [*given.posonlyargs, *given.args]
    pairs = zip(positional[len(positional) - len(given.defaults) :], given.defaults, strict=True)
    return {
        one.arg: value.value
        for one, value in [*pairs, *zip(given.kwonlyargs, given.kw_defaults, strict=True)]
        if isinstance(value, ast.Constant) and type(value.value) is int
    }
