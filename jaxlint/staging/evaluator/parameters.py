"""The parameters of project functions, and which calls fit them."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

from jaxlint.staging.values import (
    Array,
    BoundMethod,
    Choice,
    ClassValue,
    Function,
    Instance,
    Partial,
    StarArgument,
    Value,
    join,
)
from jaxlint.syntax.facts import FunctionNode, positional_parameters, switches
from jaxlint.syntax.memo import cache


@dataclass(frozen=True, slots=True)
class _Parameters:
    """The names of a function's parameters."""

    positional: tuple[str, ...]
    named: tuple[str, ...]  # all but `*args` and `**kwargs`, in order
    keyword_only: frozenset[str]
    required: tuple[str, ...]  # positional ones without a default
    variadic: str | None
    keywords: str | None
    takes_these_alone: bool  # there are only positional ones


@cache
def _parameters_of(node: FunctionNode) -> _Parameters:
    arguments = node.args
    positional = tuple(parameter.arg for parameter in positional_parameters(node))
    keyword_only = [parameter.arg for parameter in arguments.kwonlyargs]
    return _Parameters(
        positional,
        (*positional, *keyword_only),
        frozenset(keyword_only),
        positional[: len(positional) - len(arguments.defaults)],
        arguments.vararg.arg if arguments.vararg is not None else None,
        arguments.kwarg.arg if arguments.kwarg is not None else None,
        not keyword_only and arguments.vararg is None and arguments.kwarg is None,
    )


def lacks_arguments(function: Function, args: list[Value], kwargs: dict[str, Value]) -> bool:
    """Whether a call passes too few arguments, so that it raises before the body runs."""
    left = _parameters_of(function.node).required[len(args) :]
    if not left or "**" in kwargs or all(name in kwargs for name in left):
        return False
    return not any(type(value) is StarArgument for value in args)


def binds(callee: Value) -> bool:
    """Whether a call of `callee` binds its arguments to parameters of the project."""
    if isinstance(callee, (BoundMethod, Partial)):
        return binds(callee.function)
    if isinstance(callee, Choice):
        return all(map(binds, callee.options))
    return isinstance(callee, (Function, ClassValue, Instance))


def join_open(known: Value | None, more: Value) -> Value:
    """What `f(**a, **b)` passes to a parameter: it may come from either."""
    return more if known is None else join(known, more)


def doubt_switches(function: Function, bound: dict[str, Value], args: list[Value], node: ast.Call) -> None:
    """On one of several paths, an array in the position of a switch: that path may be for callees with an array
    there."""
    for name in switches(function.node):
        value = bound.get(name)
        if not isinstance(value, Array) or not value.staged or not any(value is given for given in args):
            continue
        if not any(isinstance(given, ast.Name) and given.id == name for given in node.args):
            bound[name] = replace(value, certain=False)
